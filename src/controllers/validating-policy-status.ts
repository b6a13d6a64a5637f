// Status of ValidatingAdmissionPolicies: the observed generation and the type errors in the expressions.
import { typeCheck, typedKind } from '../api/admissionregistration/v1/type-checking.ts'
import {
  validatingAdmissionPolicy,
  type ValidatingAdmissionPolicy,
} from '../api/admissionregistration/v1/validating-admission-policy.ts'
import { customTypedKinds } from '../api/apiextensions/custom-kind/custom-type.ts'
import { customResourceDefinition } from '../api/apiextensions/v1/custom-resource-definition.ts'
import { storedKinds } from '../api/kinds.ts'
import { defineController } from './runtime/controller.ts'

const builtInKinds = storedKinds.map(typedKind)

export const validatingPolicyStatusController = defineController<ValidatingAdmissionPolicy>({
  name: 'validating-policy-status',
  account: 'validatingadmissionpolicy-status-controller',
  reconciles: validatingAdmissionPolicy,
  owns: [],
  // As upstream, a changed definition is no reason to check a policy again.
  watches: [{ kind: customResourceDefinition, enqueues: () => [] }],
  plan(policy, { all }) {
    const { status, metadata } = policy
    const { generation = 1 } = metadata
    if ((status.observedGeneration ?? 0) >= generation) return { changes: [] }
    const expressionWarnings = typeCheck(policy, [
      ...builtInKinds,
      ...all(customResourceDefinition).flatMap(customTypedKinds),
    ])
    const typeChecking = expressionWarnings.length === 0 ? {} : { expressionWarnings }
    return { changes: [], status: { ...status, observedGeneration: generation, typeChecking } }
  },
})
