// SubjectAccessReview and its variants: evaluate the authorizers for a given user or for the requesting user.
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { localSubjectAccessReview } from '../../api/authorization/v1/local-subject-access-review.ts'
import { selfSubjectAccessReview } from '../../api/authorization/v1/self-subject-access-review.ts'
import { selfSubjectRulesReview } from '../../api/authorization/v1/self-subject-rules-review.ts'
import { subjectAccessReview } from '../../api/authorization/v1/subject-access-review.ts'
import type { SubjectAccessReviewSpec } from '../../api/authorization/v1/access-attributes.ts'
import { parseFieldSelector } from '../../api/selectors/field-selector-text.ts'
import { parseLabelSelector } from '../../api/selectors/label-selector-text.ts'
import type { Requirement, Selector } from '../../api/selectors/selectors.ts'
import { badRequest } from '../../api/errors/status-error.ts'
import { decodeObject } from '../objects/decode-object.ts'
import { writeOptionsOf } from '../request/write-options.ts'
import { userWithName, type User, type ResourceRequest } from '../request/request.ts'
import { resourceAttributes, type AccessAttributes } from '../authorization/attributes.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import type { Review } from '../request/review.ts'
import { throwIfInvalid } from '../objects/validate-object.ts'

export const accessReviews = (chain: Authorizer): readonly Review[] => [
  reviewOf(subjectAccessReview, async (object, { context }) => {
    const { spec } = object as AccessReview
    return statusOf(chain, attributesOf(subjectOf(spec), spec), context.signal)
  }),
  reviewOf(localSubjectAccessReview, async (object, { context, target }) => {
    const { spec } = object as AccessReview
    const { namespace } = target
    const given = spec.resourceAttributes?.namespace
    if (given !== namespace) throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`)
    return statusOf(chain, attributesOf(subjectOf(spec), spec), context.signal)
  }),
  reviewOf(selfSubjectAccessReview, async (object, { context, user = noUser }) =>
    statusOf(chain, attributesOf(user, (object as AccessReview).spec), context.signal),
  ),
  reviewOf(selfSubjectRulesReview, (object, { user = noUser }) => {
    const { namespace = '' } = (object as ApiObject & { spec: { namespace?: string } }).spec
    if (namespace === '') throw badRequest('no namespace on request')
    return Promise.resolve(rulesStatus(chain, user, namespace))
  }),
]

const noUser = userWithName('')

type AccessReview = ApiObject & { readonly spec: SubjectAccessReviewSpec }

/** A review of a kind: the body is decoded and validated and returned with a status. */
export const reviewOf = (
  kind: Kind,
  statusFor: (object: ApiObject, request: ResourceRequest) => Promise<object>,
): Review => ({
  kind,
  subresource: '',
  async review(body, request) {
    const { object } = decodeObject(kind, body, writeOptionsOf(request).fieldValidation)
    throwIfInvalid(kind, object, kind.validate(object))
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

function attributesOf(user: User, spec: SubjectAccessReviewSpec): AccessAttributes {
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
