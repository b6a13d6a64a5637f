// MutatingAdmissionPolicy: expressions change the object, one policy after the other. After a change the earlier plugins and
// the policies with reinvocationPolicy IfNeeded run again.
import {
  mutatingAdmissionPolicyBinding,
  type MutatingAdmissionPolicyBinding,
} from '../../../../api/admissionregistration/v1/mutating-admission-policy-binding.ts'
import {
  mutatingAdmissionPolicy,
  type MutatingAdmissionPolicy,
} from '../../../../api/admissionregistration/v1/mutating-admission-policy.ts'
import { appliedType, jsonPatchType, mutationEnvironment } from '../../../../api/expressions/admission-environment.ts'
import type { Kind } from '../../../../api/kind/kind.ts'
import type { ApiObject } from '../../../../api/meta/object.ts'
import { listOf } from '../../../../cel/types/cel-type.ts'
import { expressionInput } from '../../expressions/activation.ts'
import { OutOfBudgetError } from '../../expressions/evaluate-expression.ts'
import {
  defineAdmissionPlugin,
  type AdmissionAttributes,
  type AdmissionHost,
} from '../../framework/admission-plugin.ts'
import { fromMatchedVersion, inMatchedVersion } from '../../framework/matched-version.ts'
import { compileOne, compileScope, type CompiledExpression, type PolicyScope } from './compiled-policy.ts'
import type { MutationErrorType } from '../../../metrics/policy-metrics.ts'
import { recordPolicy, denialError } from './policy-denial.ts'
import { applyMutation, MutationError, type PatchType } from './mutation.ts'
import { ConfigurationError, paramKindOf, paramsOf } from './params.ts'
import { bindingsOf, matchedPolicy, matchesBinding } from './policy-matching.ts'
import { PolicyEvaluation } from './policy-evaluation.ts'

interface CompiledMutation extends CompiledExpression {
  readonly patchType: PatchType
}

interface CompiledPolicy {
  readonly scope: PolicyScope
  readonly mutations: readonly CompiledMutation[]
}

const compiledPolicies = new WeakMap<MutatingAdmissionPolicy, CompiledPolicy | ConfigurationError>()

function compiledPolicy(policy: MutatingAdmissionPolicy, host: AdmissionHost): CompiledPolicy {
  if (policy.spec.paramKind !== undefined) paramKindOf(policy.spec.paramKind, host)
  const found = compiledPolicies.get(policy) ?? compilePolicy(policy)
  compiledPolicies.set(policy, found)
  if (found instanceof ConfigurationError) throw found
  return found
}

function compilePolicy({ spec }: MutatingAdmissionPolicy): CompiledPolicy | ConfigurationError {
  const { paramKind, variables = [], mutations = [] } = spec
  try {
    const scope = compileScope(paramKind !== undefined, variables)
    const environment = mutationEnvironment(scope.environment)
    const compiled = mutations.map(({ patchType, applyConfiguration, jsonPatch }) => {
      const { expression = '' } = (patchType === 'JSONPatch' ? jsonPatch : applyConfiguration) ?? {}
      const type = patchType === 'JSONPatch' ? listOf(jsonPatchType) : appliedType
      return { ...compileOne(expression, environment, type), patchType }
    })
    return { scope, mutations: compiled }
  } catch (error) {
    if (error instanceof ConfigurationError) return error
    throw error
  }
}

export const mutatingAdmissionPolicies = defineAdmissionPlugin({
  name: 'MutatingAdmissionPolicy',
  handles: { operations: ['create', 'update', 'connect'], subresources: 'all' },
  admit(attributes, host) {
    const bindings = host.list(mutatingAdmissionPolicyBinding)
    return bindings.length === 0 ? attributes.object : applyAll(bindings, attributes, host)
  },
})

async function applyAll(
  bindings: readonly MutatingAdmissionPolicyBinding[],
  attributes: AdmissionAttributes,
  host: AdmissionHost,
): Promise<ApiObject | undefined> {
  const { reinvocation } = attributes
  let { object } = attributes
  const policies = host.list(mutatingAdmissionPolicy).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  for (const policy of policies)
    for (const binding of bindingsOf(policy, bindings)) {
      const now = { ...attributes, object }
      const id = `policies/${policy.metadata.name}/${binding.metadata.name}`
      const kind = matchedPolicy(policy.spec.matchConstraints, now, host)
      if (kind === undefined || !reinvocation.shouldInvoke(id)) continue
      if (!matchesBinding(binding.spec.matchResources, now, host)) continue
      const shown = await inMatchedVersion(now, kind, host)
      const changedObject = await applied(policy, binding, kind, shown, host)
      const isChanged = changedObject !== undefined && changedObject !== shown.object
      const next = isChanged ? await fromMatchedVersion(changedObject, attributes, kind, host) : object
      if (next !== object) reinvocation.objectChanged()
      recordPolicy(now, host, 'MutatingAdmissionPolicy', policy, next === object ? 'unchanged' : 'changed')
      if (policy.spec.reinvocationPolicy === 'IfNeeded') reinvocation.markReinvocable(id)
      object = next
    }
  return object
}

/** The object after one policy. An error rejects the request or, with failurePolicy Ignore, leaves the object unchanged. */
async function applied(
  policy: MutatingAdmissionPolicy,
  binding: MutatingAdmissionPolicyBinding,
  kind: Kind,
  attributes: AdmissionAttributes,
  host: AdmissionHost,
): Promise<ApiObject | undefined> {
  const startMs = host.monotonicMs()
  const measure = (errorType: MutationErrorType) =>
    host.metrics.policies.mutated(
      errorType,
      policy.metadata.name,
      binding.metadata.name,
      (host.monotonicMs() - startMs) / 1000,
    )
  try {
    const object = await changed(policy, binding, kind, attributes, host)
    measure('no_error')
    return object
  } catch (error) {
    const isExpected =
      error instanceof MutationError || error instanceof ConfigurationError || error instanceof OutOfBudgetError
    if (!isExpected) throw error
    measure('invalid_error')
    if (policy.spec.failurePolicy === 'Ignore') return attributes.object
    const what = error instanceof ConfigurationError ? `failed to configure binding: ${error.message}` : error.message
    const message = `policy '${policy.metadata.name}' with binding '${binding.metadata.name}' denied request: ${what}`
    recordPolicy(attributes, host, 'MutatingAdmissionPolicy', policy, 'denied')
    throw denialError(attributes, { message, reason: '' })
  }
}

async function changed(
  policy: MutatingAdmissionPolicy,
  binding: MutatingAdmissionPolicyBinding,
  kind: Kind,
  attributes: AdmissionAttributes,
  host: AdmissionHost,
): Promise<ApiObject | undefined> {
  const { user, signal, namespace } = attributes
  const { paramKind, matchConditions = [] } = policy.spec
  const { scope, mutations } = compiledPolicy(policy, host)
  let { object } = attributes
  for (const params of await paramsOf(paramKind, binding.spec.paramRef, namespace, host, signal))
    for (const [index, mutation] of mutations.entries()) {
      if (object === undefined) return object
      // Each mutation sees the result of the previous one.
      const seen = expressionInput({ ...attributes, object }, kind, host)
      const round = new PolicyEvaluation(scope, paramKind, params, seen, { user, host, signal })
      if (index === 0) {
        const match = await round.match(matchConditions)
        if (match.kind === 'failed') throw new MutationError(match.message)
        if (match.kind === 'skipped') break
      }
      const outcome = await round.evaluate(mutation)
      if (outcome.kind === 'failed') throw new MutationError(outcome.message)
      object = applyMutation(object, kind, attributes.subresourceObject, mutation.patchType, outcome.value)
    }
  return object
}
