// ValidatingAdmissionPolicy: expressions validate the final object, once for each binding and its parameters.
import { append } from '../../../../base/collections/append.ts'
import {
  validatingAdmissionPolicyBinding,
  type ValidatingAdmissionPolicyBinding,
} from '../../../../api/admissionregistration/v1/validating-admission-policy-binding.ts'
import {
  validatingAdmissionPolicy,
  type Validation,
  type ValidatingAdmissionPolicy,
} from '../../../../api/admissionregistration/v1/validating-admission-policy.ts'
import type { Kind } from '../../../../api/kind/kind.ts'
import { boolType, nullType, stringType } from '../../../../cel/types/cel-type.ts'
import { expressionInput, type ExpressionInput } from '../../expressions/activation.ts'
import { OutOfBudgetError } from '../../expressions/evaluate-expression.ts'
import type { AdmissionAttributes, AdmissionHost } from '../../framework/admission-plugin.ts'
import { defineAdmissionPlugin } from '../../framework/admission-plugin.ts'
import { inMatchedVersion } from '../../framework/matched-version.ts'
import type { EnforcementAction } from '../../../metrics/policy-metrics.ts'
import { compileOne, compileScope, type CompiledExpression, type PolicyScope } from './compiled-policy.ts'
import { recordPolicy, denialError, type Denial } from './policy-denial.ts'
import { bindingsOf, matchedPolicy, matchesBinding } from './policy-matching.ts'
import { ConfigurationError, paramKindOf, paramsOf } from './params.ts'
import { PolicyEvaluation } from './policy-evaluation.ts'

const annotationCharactersMax = 10 << 10
const messageBytesMax = 5 << 10

interface Check extends CompiledExpression {
  readonly validation: Validation
  readonly message: CompiledExpression | undefined
}

interface CompiledPolicy {
  readonly scope: PolicyScope
  readonly checks: readonly Check[]
  readonly annotations: readonly { readonly key: string; readonly value: CompiledExpression }[]
}

const known = new WeakMap<ValidatingAdmissionPolicy, CompiledPolicy | ConfigurationError>()

function compiledPolicy(policy: ValidatingAdmissionPolicy, host: AdmissionHost): CompiledPolicy {
  if (policy.spec.paramKind !== undefined) paramKindOf(policy.spec.paramKind, host)
  const found = known.get(policy) ?? tried(policy)
  known.set(policy, found)
  if (found instanceof ConfigurationError) throw found
  return found
}

function tried({ spec }: ValidatingAdmissionPolicy): CompiledPolicy | ConfigurationError {
  const { paramKind, variables = [], validations = [], auditAnnotations = [] } = spec
  try {
    const scope = compileScope(paramKind !== undefined, variables)
    const checks = validations.map((validation) => {
      const { expression, messageExpression = '' } = validation
      const isEmpty = messageExpression.trim() === ''
      const message = isEmpty ? undefined : compileOne(messageExpression, scope.environment, stringType)
      return { ...compileOne(expression, scope.environment, boolType), validation, message }
    })
    const annotations = auditAnnotations.map(({ key, valueExpression }) => ({
      key,
      value: compileOne(valueExpression, scope.environment, stringType, nullType),
    }))
    return { scope, checks, annotations }
  } catch (error) {
    if (error instanceof ConfigurationError) return error
    throw error
  }
}

export const validatingAdmissionPolicies = defineAdmissionPlugin({
  name: 'ValidatingAdmissionPolicy',
  handles: { operations: ['create', 'update', 'delete', 'connect'], subresources: 'all' },
  validate(attributes, host) {
    const bindings = host.list(validatingAdmissionPolicyBinding)
    return bindings.length === 0 ? undefined : judge(bindings, attributes, host)
  },
})

async function judge(
  bindings: readonly ValidatingAdmissionPolicyBinding[],
  attributes: AdmissionAttributes,
  host: AdmissionHost,
): Promise<void> {
  const denials: Denial[] = []
  const policies = host.list(validatingAdmissionPolicy).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  for (const policy of policies) {
    const kind = matchedPolicy(policy.spec.matchConstraints, attributes, host)
    const own = bindingsOf(policy, bindings)
    if (kind === undefined || own.length === 0) continue
    const shown = await inMatchedVersion(attributes, kind, host)
    const found = await new PolicyValidation(policy, kind, shown, host).of(own)
    recordPolicy(attributes, host, 'ValidatingAdmissionPolicy', policy, found.length === 0 ? 'allowed' : 'denied')
    append(denials, found)
  }
  const [first] = denials
  if (first !== undefined) throw denialError(attributes, first)
}

const enforcementActionOf = (action: string): EnforcementAction =>
  action === 'Deny' ? 'deny' : action === 'Warn' ? 'warn' : 'audit'

/** One policy for one request. */
class PolicyValidation {
  readonly #policy: ValidatingAdmissionPolicy
  readonly #attributes: AdmissionAttributes
  readonly #host: AdmissionHost
  readonly #seen: ExpressionInput
  readonly #denials: Denial[] = []
  readonly #annotations = new Map<string, Set<string>>()

  constructor(policy: ValidatingAdmissionPolicy, kind: Kind, attributes: AdmissionAttributes, host: AdmissionHost) {
    this.#policy = policy
    this.#attributes = attributes
    this.#host = host
    this.#seen = expressionInput(attributes, kind, host)
  }

  async of(bindings: readonly ValidatingAdmissionPolicyBinding[]): Promise<readonly Denial[]> {
    const { name } = this.#policy.metadata
    const matching = bindings.filter(({ spec }) => matchesBinding(spec.matchResources, this.#attributes, this.#host))
    try {
      const compiled = compiledPolicy(this.#policy, this.#host)
      for (const binding of matching) await this.#bound(binding, compiled)
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      const message = `failed to configure policy: ${error.message}`
      if (this.#isStrict)
        this.#denials.push({ message: `ValidatingAdmissionPolicy '${name}' denied request: ${message}`, reason: '' })
    }
    for (const [key, values] of this.#annotations)
      this.#attributes.recorder.annotate(`${name}/${key}`, [...values].join(', '))
    return this.#denials
  }

  get #isStrict(): boolean {
    return this.#policy.spec.failurePolicy !== 'Ignore'
  }

  async #bound(binding: ValidatingAdmissionPolicyBinding, compiled: CompiledPolicy): Promise<void> {
    const { spec } = this.#policy
    const { user, signal, namespace } = this.#attributes
    try {
      for (const params of await paramsOf(spec.paramKind, binding.spec.paramRef, namespace, this.#host, signal)) {
        const round = new PolicyEvaluation(compiled.scope, spec.paramKind, params, this.#seen, {
          user,
          host: this.#host,
          signal,
        })
        await this.#round(round, binding, compiled)
      }
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      if (this.#isStrict) this.#deny(binding, `failed to configure binding: ${error.message}`, '')
    }
  }

  async #round(
    round: PolicyEvaluation,
    binding: ValidatingAdmissionPolicyBinding,
    compiled: CompiledPolicy,
  ): Promise<void> {
    let startMs = this.#host.monotonicMs()
    const match = await round.match(this.#policy.spec.matchConditions ?? [])
    if (match.kind === 'failed') this.#fail(binding, 0, match.message, startMs)
    if (match.kind !== 'matches') return
    try {
      for (const [index, check] of compiled.checks.entries()) {
        startMs = this.#host.monotonicMs()
        const found = await this.#checked(round, check)
        if (found === undefined) continue
        if ('failure' in found) this.#fail(binding, index, found.failure, startMs)
        else this.#act(binding, index, found, startMs)
      }
      for (const { key, value } of compiled.annotations) await this.#annotate(round, binding, key, value)
    } catch (error) {
      if (!(error instanceof OutOfBudgetError)) throw error
      this.#fail(binding, 0, error.message, startMs)
    }
  }

  async #checked(round: PolicyEvaluation, check: Check): Promise<Denial | { readonly failure: string } | undefined> {
    const outcome = await round.evaluate(check)
    if (outcome.kind === 'failed') return { failure: outcome.message }
    if (outcome.value === true) return undefined
    const { validation, message, expression } = check
    const evaluated = message === undefined ? '' : await messageOf(round, message)
    const text = evaluated || (validation.message ?? '').trim() || `failed expression: ${expression}`
    return { message: text, reason: validation.reason ?? 'Invalid' }
  }

  /** An expression has failed: the request is denied or, with failurePolicy Ignore, the failure is only measured. */
  #fail(binding: ValidatingAdmissionPolicyBinding, index: number, message: string, startMs: number): void {
    if (this.#isStrict) this.#act(binding, index, { message, reason: '' }, startMs)
    else this.#measure('allow', binding, message, startMs)
  }

  #measure(
    action: EnforcementAction,
    { metadata }: ValidatingAdmissionPolicyBinding,
    message: string,
    startMs: number,
  ): void {
    const { metrics } = this.#host
    const seconds = (this.#host.monotonicMs() - startMs) / 1000
    metrics.policies.validated(action, message, this.#policy.metadata.name, metadata.name, seconds)
  }

  /** Applies the validation actions of the binding. */
  #act(binding: ValidatingAdmissionPolicyBinding, index: number, { message, reason }: Denial, startMs: number): void {
    const { metadata, spec } = binding
    const { recorder } = this.#attributes
    const policy = this.#policy.metadata.name
    for (const action of spec.validationActions ?? []) {
      this.#measure(enforcementActionOf(action), binding, message, startMs)
      if (action === 'Deny') this.#deny({ metadata }, message, reason)
      else if (action === 'Warn')
        recorder.warn(
          `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${metadata.name}': ${message}`,
        )
      else {
        const failure = {
          message,
          policy: spec.policyName,
          binding: metadata.name,
          expressionIndex: index,
          validationActions: spec.validationActions,
        }
        recorder.annotate('validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failure]))
      }
    }
  }

  #deny({ metadata }: Pick<ValidatingAdmissionPolicyBinding, 'metadata'>, message: string, reason: string): void {
    const policy = this.#policy.metadata.name
    const text = `ValidatingAdmissionPolicy '${policy}' with binding '${metadata.name}' denied request: ${message}`
    this.#denials.push({ message: text, reason })
  }

  async #annotate(
    round: PolicyEvaluation,
    binding: ValidatingAdmissionPolicyBinding,
    key: string,
    value: CompiledExpression,
  ): Promise<void> {
    const startMs = this.#host.monotonicMs()
    const outcome = await round.evaluate(value)
    if (outcome.kind === 'failed') {
      if (!this.#isStrict) return
      this.#measure('deny', binding, outcome.message, startMs)
      this.#deny(binding, outcome.message, '')
      return
    }
    const text = typeof outcome.value === 'string' ? outcome.value.trim() : ''
    if (text === '') return
    const values = this.#annotations.get(key) ?? new Set()
    this.#annotations.set(key, values.add(text.slice(0, annotationCharactersMax)))
  }
}

/** The value of a message expression if it is one line within the limit; empty otherwise and on errors. */
async function messageOf(round: PolicyEvaluation, message: CompiledExpression): Promise<string> {
  const outcome = await round.evaluate(message)
  const text = outcome.kind === 'value' && typeof outcome.value === 'string' ? outcome.value.trim() : ''
  return text.length > messageBytesMax || text.includes('\n') ? '' : text
}
