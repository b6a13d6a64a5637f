import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { validatingAdmissionPolicy } from '../api/admissionregistration/v1/validating-admission-policy.ts'
import { made, planOf } from './plan.harness.ts'
import { validatingPolicyStatusController } from './validating-policy-status.ts'

const cases: [why: string, generation: number, status: object, want: object | undefined][] = [
  ['a new policy was looked at', 1, {}, { observedGeneration: 1 }],
  ['a changed one was looked at again', 3, { observedGeneration: 2 }, { observedGeneration: 3 }],
  ['nothing is left to say', 2, { observedGeneration: 2 }, undefined],
]
for (const [why, generation, status, want] of cases)
  test(`ValidatingAdmissionPolicy: ${why}`, () => {
    const policy = made(validatingAdmissionPolicy, 'p', { metadata: { generation }, spec: {}, status })
    deepEqual(planOf(validatingPolicyStatusController, policy).status, want)
  })
