// The authorizer: checks of permissions in expressions. Authorization is asynchronous and evaluation is not, so an evaluation
// that needs a decision is interrupted, and restarted when the decision is available.
import { member, type Functions } from '../../environment/function.ts'
import { boolType, opaque, stringType, type CelType } from '../../types/cel-type.ts'
import { EvalError, Interrupt } from '../../values/eval-error.ts'
import { Opaque } from '../../values/value.ts'

export const authorizerType = opaque('kubernetes.authorization.Authorizer')
export const pathCheckType = opaque('kubernetes.authorization.PathCheck')
export const groupCheckType = opaque('kubernetes.authorization.GroupCheck')
export const resourceCheckType = opaque('kubernetes.authorization.ResourceCheck')
export const decisionType = opaque('kubernetes.authorization.Decision')

export interface AuthorizationQuery {
  /** Checks this account instead of the user of the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string }
  readonly path?: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly fieldSelector?: string
  readonly labelSelector?: string
  readonly verb: string
}

export interface AuthorizationDecision {
  readonly isAllowed: boolean
  readonly reason: string
  readonly error: string
}

/** The decision must be made before the evaluation can continue. */
export class PendingAuthorizationError extends Interrupt {
  readonly query: AuthorizationQuery

  constructor(query: AuthorizationQuery) {
    super('the authorizer has not answered yet')
    this.query = query
  }
}

/** The decisions of one request so far, by query. */
export class AuthorizationDecisions {
  readonly #known = new Map<string, AuthorizationDecision>()

  decision(query: AuthorizationQuery): AuthorizationDecision {
    const known = this.#known.get(JSON.stringify(query))
    if (known === undefined) throw new PendingAuthorizationError(query)
    return known
  }

  set(query: AuthorizationQuery, decision: AuthorizationDecision): void {
    this.#known.set(JSON.stringify(query), decision)
  }
}

type CheckAttributes = Omit<AuthorizationQuery, 'verb'>

/** A partial query: the user, then what is accessed. */
export class Check extends Opaque {
  readonly type: CelType
  readonly attributes: CheckAttributes
  readonly decisions: AuthorizationDecisions

  constructor(type: CelType, attributes: CheckAttributes, decisions: AuthorizationDecisions) {
    super()
    this.type = type
    this.attributes = attributes
    this.decisions = decisions
  }

  equals(other: Opaque): boolean {
    return this === other
  }

  narrowed(type: CelType, attributes: CheckAttributes): Check {
    return new Check(type, { ...this.attributes, ...attributes }, this.decisions)
  }
}

class Decision extends Opaque {
  readonly type = decisionType
  readonly decision: AuthorizationDecision

  constructor(decision: AuthorizationDecision) {
    super()
    this.decision = decision
  }

  equals(other: Opaque): boolean {
    return this === other
  }
}

const check = ({ attributes: subject, decisions: answers }: Check, verb: string): Decision =>
  new Decision(answers.decision({ ...subject, verb }))

const narrowing = (id: string, field: keyof CheckAttributes) => [
  member(id, [resourceCheckType, stringType], resourceCheckType, (asked: Check, value: string) =>
    asked.narrowed(resourceCheckType, { [field]: value }),
  ),
]

export const authorizerFunctions: Functions = {
  path: [
    member('authorizer_path', [authorizerType, stringType], pathCheckType, (authorizer: Check, path: string) => {
      if (path === '') throw new EvalError('path must not be empty')
      return authorizer.narrowed(pathCheckType, { path })
    }),
  ],
  group: [
    member('authorizer_group', [authorizerType, stringType], groupCheckType, (authorizer: Check, group: string) =>
      authorizer.narrowed(groupCheckType, { group }),
    ),
  ],
  serviceAccount: [
    member(
      'authorizer_serviceaccount',
      [authorizerType, stringType, stringType],
      authorizerType,
      (authorizer: Check, namespace: string, name: string) =>
        authorizer.narrowed(authorizerType, { serviceAccount: { namespace, name } }),
    ),
  ],
  resource: [
    member('groupcheck_resource', [groupCheckType, stringType], resourceCheckType, (asked: Check, resource: string) =>
      asked.narrowed(resourceCheckType, { resource }),
    ),
  ],
  subresource: narrowing('resourcecheck_subresource', 'subresource'),
  namespace: narrowing('resourcecheck_namespace', 'namespace'),
  name: narrowing('resourcecheck_name', 'name'),
  fieldSelector: narrowing('authorizer_fieldselector', 'fieldSelector'),
  labelSelector: narrowing('authorizer_labelselector', 'labelSelector'),
  check: [
    member('pathcheck_check', [pathCheckType, stringType], decisionType, check),
    member('resourcecheck_check', [resourceCheckType, stringType], decisionType, check),
  ],
  allowed: [member('decision_allowed', [decisionType], boolType, ({ decision }: Decision) => decision.isAllowed)],
  reason: [member('decision_reason', [decisionType], stringType, ({ decision }: Decision) => decision.reason)],
  errored: [member('decision_errored', [decisionType], boolType, ({ decision }: Decision) => decision.error !== '')],
  error: [member('decision_error', [decisionType], stringType, ({ decision }: Decision) => decision.error)],
}
