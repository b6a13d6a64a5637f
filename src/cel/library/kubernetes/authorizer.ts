// The authorizer: an expression asks whether somebody may do something. Answers come later than expressions run, so an
// evaluation that needs one is interrupted and begins again when it is known.
import { member, type Functions } from '../../function.ts'
import { boolType, opaque, stringType, type CelType } from '../../type.ts'
import { EvalError, Interrupt } from '../../values/eval-error.ts'
import { Opaque } from '../../values/value.ts'

export const authorizerType = opaque('kubernetes.authorization.Authorizer')
export const pathCheckType = opaque('kubernetes.authorization.PathCheck')
export const groupCheckType = opaque('kubernetes.authorization.GroupCheck')
export const resourceCheckType = opaque('kubernetes.authorization.ResourceCheck')
export const decisionType = opaque('kubernetes.authorization.Decision')

export interface AuthorizationQuestion {
  /** Asked about this account instead of the request's user. */
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

export interface AuthorizationAnswer {
  readonly isAllowed: boolean
  readonly reason: string
  readonly error: string
}

/** Must be answered before the expression can go on. */
export class UnansweredError extends Interrupt {
  readonly question: AuthorizationQuestion

  constructor(question: AuthorizationQuestion) {
    super('the authorizer has not answered yet')
    this.question = question
  }
}

/** What was answered so far in one request, by question. */
export class AuthorizationAnswers {
  readonly #known = new Map<string, AuthorizationAnswer>()

  answer(question: AuthorizationQuestion): AuthorizationAnswer {
    const known = this.#known.get(JSON.stringify(question))
    if (known === undefined) throw new UnansweredError(question)
    return known
  }

  set(question: AuthorizationQuestion, answer: AuthorizationAnswer): void {
    this.#known.set(JSON.stringify(question), answer)
  }
}

type Subject = Omit<AuthorizationQuestion, 'verb'>

/** A question as far as it is put: who, then what. */
export class Check extends Opaque {
  readonly type: CelType
  readonly subject: Subject
  readonly answers: AuthorizationAnswers

  constructor(type: CelType, subject: Subject, answers: AuthorizationAnswers) {
    super()
    this.type = type
    this.subject = subject
    this.answers = answers
  }

  equals(other: Opaque): boolean {
    return this === other
  }

  narrowed(type: CelType, subject: Subject): Check {
    return new Check(type, { ...this.subject, ...subject }, this.answers)
  }
}

class Decision extends Opaque {
  readonly type = decisionType
  readonly answer: AuthorizationAnswer

  constructor(answer: AuthorizationAnswer) {
    super()
    this.answer = answer
  }

  equals(other: Opaque): boolean {
    return this === other
  }
}

const check = ({ subject, answers }: Check, verb: string): Decision =>
  new Decision(answers.answer({ ...subject, verb }))

const narrowing = (id: string, field: keyof Subject) => [
  member(id, [resourceCheckType, stringType], resourceCheckType, (asked: Check, value: string) =>
    asked.narrowed(resourceCheckType, { [field]: value }),
  ),
]

export const authorizers: Functions = {
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
  allowed: [member('decision_allowed', [decisionType], boolType, ({ answer }: Decision) => answer.isAllowed)],
  reason: [member('decision_reason', [decisionType], stringType, ({ answer }: Decision) => answer.reason)],
  errored: [member('decision_errored', [decisionType], boolType, ({ answer }: Decision) => answer.error !== '')],
  error: [member('decision_error', [decisionType], stringType, ({ answer }: Decision) => answer.error)],
}
