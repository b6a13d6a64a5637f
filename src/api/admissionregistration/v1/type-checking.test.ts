// Type checking of policies against the built-in kinds.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { deployment } from '../../apps/v1/deployment.ts'
import { configMap } from '../../core/v1/config-map.ts'
import { pod } from '../../core/v1/pod/pod.ts'
import { customResourceDefinition } from '../../apiextensions/v1/custom-resource-definition.ts'
import { typeCheck, typedKind } from './type-checking.ts'
import type { ValidatingAdmissionPolicy } from './validating-admission-policy.ts'

const kinds = [pod, deployment, configMap, customResourceDefinition]
const rules = (apiGroups: string[], resources: string[]) => ({
  resourceRules: [{ operations: ['CREATE'], apiGroups, apiVersions: ['v1'], resources, scope: '*' }],
})
const warnings = (spec: object) =>
  typeCheck({ metadata: { name: 'p' }, spec } as unknown as ValidatingAdmissionPolicy, kinds.map(typedKind))

test('valid expressions have no warnings', () => {
  const expressions = [
    `object.spec.replicas > 1 && object.metadata.labels['x'] == 'y' && object.kind == 'Deployment'`,
    `object.spec.template.spec.containers.all(c, c.image != '' && c.ports.all(p, p.containerPort < 1024))`,
    `object.metadata.creationTimestamp < timestamp('2030-01-01T00:00:00Z')`,
  ]
  const validations = expressions.map((expression) => ({ expression }))
  deepEqual(warnings({ matchConstraints: rules(['apps'], ['deployments']), validations }), [])
})

test('a schema can contain itself', () => {
  const expression = `object.spec.versions.all(v, v.schema.openAPIV3Schema.properties.all(k, v.served))`
  const matchConstraints = rules(['apiextensions.k8s.io'], ['customresourcedefinitions'])
  deepEqual(warnings({ matchConstraints, validations: [{ expression }] }), [])
})

test('errors are reported for each kind', () => {
  const spec = {
    matchConstraints: rules(['', 'apps'], ['pods', 'deployments']),
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    variables: [{ name: 'n', expression: 'params.data.size()' }],
    validations: [
      { expression: 'object.spec.replicas > 1' },
      { expression: `variables.n == 'a'`, messageExpression: `object.foo` },
    ],
  }
  deepEqual(warnings(spec), [
    {
      fieldRef: 'spec.validations[0].expression',
      warning: `v1, Kind=Pod: ERROR: <input>:1:12: undefined field 'replicas'\n | object.spec.replicas > 1\n | ...........^\n`,
    },
    {
      fieldRef: 'spec.validations[1].expression',
      warning: ['apps/v1, Kind=Deployment', 'v1, Kind=Pod']
        .map(
          (kind) =>
            `${kind}: ERROR: <input>:1:13: found no matching overload for '_==_' applied to '(int, string)'\n | variables.n == 'a'\n | ............^\n`,
        )
        .join(''),
    },
    {
      fieldRef: 'spec.validations[1].messageExpression',
      warning: ['apps/v1, Kind=Deployment', 'v1, Kind=Pod']
        .map((kind) => `${kind}: ERROR: <input>:1:7: undefined field 'foo'\n | object.foo\n | ......^\n`)
        .join(''),
    },
  ])
})
