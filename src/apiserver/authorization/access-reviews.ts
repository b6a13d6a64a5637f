// Access reviews: the chain of authorizers asked on purpose, by those who may ask, about others or about themselves.
import type { Kind } from '../../api/kind.ts'
import type { ApiObject } from '../../api/object.ts'
import { localSubjectAccessReview } from '../../api/authorization/v1/local-subject-access-review.ts'
import { selfSubjectAccessReview } from '../../api/authorization/v1/self-subject-access-review.ts'
import { selfSubjectRulesReview } from '../../api/authorization/v1/self-subject-rules-review.ts'
import { subjectAccessReview } from '../../api/authorization/v1/subject-access-review.ts'
import type { SubjectAccessReviewSpec } from '../../api/authorization/v1/access-attributes.ts'
import { parseFieldSelector } from '../../api/field-selector-text.ts'
import { parseLabelSelector } from '../../api/label-selector-text.ts'
import type { Requirement, Selector } from '../../api/selectors.ts'
import { badRequest } from '../../api/status-error.ts'
import { ingest } from '../registry/ingest.ts'
import type { ResourceRequest } from '../registry/parts.ts'
import type { Review } from '../registry/review.ts'
import { writeOptionsOf } from '../registry/write-options.ts'
import { refuseInvalid } from '../registry/writes.ts'
import { userNamed, type User } from '../request.ts'
import { resourceAttributes, type AccessAttributes } from './attributes.ts'
import type { Authorizer } from './authorizer.ts'

export const accessReviews = (chain: Authorizer): readonly Review[] => [
  reviewOf(subjectAccessReview, async (object, { context }) => {
    const { spec } = object as AskedObject
    return statusOf(chain, asked(subjectOf(spec), spec), context.signal)
  }),
  reviewOf(localSubjectAccessReview, async (object, { context, target }) => {
    const { spec } = object as AskedObject
    const { namespace } = target
    const given = spec.resourceAttributes?.namespace
    if (given !== namespace) throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`)
    return statusOf(chain, asked(subjectOf(spec), spec), context.signal)
  }),
  reviewOf(selfSubjectAccessReview, async (object, { context, user = nobody }) =>
    statusOf(chain, asked(user, (object as AskedObject).spec), context.signal),
  ),
  reviewOf(selfSubjectRulesReview, (object, { user = nobody }) => {
    const { namespace = '' } = (object as ApiObject & { spec: { namespace?: string } }).spec
    if (namespace === '') throw badRequest('no namespace on request')
    return Promise.resolve(rulesStatus(chain, user, namespace))
  }),
]

const nobody = userNamed('')

type AskedObject = ApiObject & { readonly spec: SubjectAccessReviewSpec }

/** A review of a kind: its body is read and checked, and comes back with a status. */
export const reviewOf = (
  kind: Kind,
  statusFor: (object: ApiObject, request: ResourceRequest) => Promise<object>,
): Review => ({
  kind,
  subresource: '',
  async answer(body, request) {
    const { object } = ingest(kind, body, writeOptionsOf(request).fieldValidation)
    refuseInvalid(kind, object, kind.validate(object))
    return { ...object, status: await statusFor(object, request) }
  },
})

async function statusOf(chain: Authorizer, attributes: AccessAttributes, signal: AbortSignal): Promise<object> {
  const decision = await chain.authorize(attributes, signal)
  const reason = decision.reason()
  return {
    allowed: decision.kind === 'allowed',
    ...(decision.kind === 'denied' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
  }
}

const subjectOf = ({ user = '', uid = '', groups = [], extra = {} }: SubjectAccessReviewSpec): User => ({
  name: user,
  uid,
  groups,
  extra,
})

function asked(user: User, spec: SubjectAccessReviewSpec): AccessAttributes {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec
  if (resource === undefined) return { kind: 'path', user, verb: path?.verb ?? '', path: path?.path ?? '' }
  const { verb = '', fieldSelector, labelSelector, ...rest } = resource
  return resourceAttributes(user, verb, {
    ...rest,
    fields: selectorIn(fieldSelector, parseFieldSelector),
    labels: selectorIn(labelSelector, parseLabelSelector),
  })
}

interface SelectorAttributes {
  readonly rawSelector?: string
  readonly requirements?: readonly {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[]
  }[]
}

function selectorIn(given: SelectorAttributes | undefined, parse: (text: string) => Selector): Selector | undefined {
  if (given === undefined) return undefined
  const { rawSelector = '', requirements = [] } = given
  if (rawSelector !== '') return parse(rawSelector)
  return requirements.map(({ key, operator, values = [] }) => ({
    key,
    operator: operator as Requirement['operator'],
    values,
  }))
}

function rulesStatus(chain: Authorizer, user: User, namespace: string): object {
  const { rules, incomplete, errors } = chain.rulesFor(user, namespace)
  return {
    resourceRules: rules.filter(({ resources = [] }) => resources.length > 0),
    nonResourceRules: rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0),
    incomplete,
    ...(errors.length === 0 ? {} : { evaluationError: errors.length === 1 ? errors[0] : `[${errors.join(', ')}]` }),
  }
}
