import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { validatingAdmissionPolicy } from '../api/admissionregistration/v1/validating-admission-policy.ts'
import { customResourceDefinition } from '../api/apiextensions/v1/custom-resource-definition.ts'
import { made, planOf } from './runtime/plan.harness.ts'
import { validatingPolicyStatusController } from './validating-policy-status.ts'

const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }
const specOf = (expression: string) => ({
  matchConstraints: { resourceRules: [rule] },
  validations: [{ expression }],
})
const right = specOf('object.spec.replicas < 5')
const wrong = specOf('object.spec.replicas == "5"')
const expressionWarnings = [
  {
    fieldRef: 'spec.validations[0].expression',
    warning:
      "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_==_' applied to '(int, string)'\n" +
      ' | object.spec.replicas == "5"\n | .....................^\n',
  },
]

const cases: [why: string, generation: number, spec: object, status: object, want: object | undefined][] = [
  ['a new one is checked', 1, right, {}, { observedGeneration: 1, typeChecking: {} }],
  ['a type error is reported', 1, wrong, {}, { observedGeneration: 1, typeChecking: { expressionWarnings } }],
  [
    'a changed one is checked again',
    3,
    right,
    { observedGeneration: 2, typeChecking: { expressionWarnings } },
    { observedGeneration: 3, typeChecking: {} },
  ],
  ['a checked one is not changed', 2, wrong, { observedGeneration: 2 }, undefined],
]
for (const [why, generation, spec, status, want] of cases)
  test(`ValidatingAdmissionPolicy: ${why}`, () => {
    const policy = made(validatingAdmissionPolicy, 'p', { metadata: { generation }, spec, status })
    deepEqual(planOf(validatingPolicyStatusController, policy).status, want)
  })

test('ValidatingAdmissionPolicy: expressions are checked against the schemas of custom resources', () => {
  const text = { type: 'string' }
  const openAPIV3Schema = { type: 'object', properties: { size: { type: 'integer' }, name: text } }
  const definition = made(customResourceDefinition, 'widgets.example.com', {
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  })
  const resourceRules = [{ ...rule, apiGroups: ['example.com'], resources: ['widgets'] }]
  const policy = made(validatingAdmissionPolicy, 'p', {
    spec: {
      matchConstraints: { resourceRules },
      validations: [
        { expression: "object.size == 1 && 'a' in object.metadata.labels" },
        { expression: 'object.size == object.name' },
      ],
    },
  })
  const { typeChecking } = planOf(validatingPolicyStatusController, policy, definition).status as {
    typeChecking: { expressionWarnings: { fieldRef: string; warning: string }[] }
  }
  deepEqual(
    typeChecking.expressionWarnings.map(({ fieldRef, warning }) => [fieldRef, warning.split('\n')[0]]),
    [
      [
        'spec.validations[1].expression',
        "example.com/v1, Kind=Widget: ERROR: <input>:1:13: found no matching overload for '_==_' applied to '(int, string)'",
      ],
    ],
  )
})
