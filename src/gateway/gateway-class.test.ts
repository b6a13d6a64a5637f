import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { supportedFeatures } from './features.ts'
import { acceptedClass, classStatus, isOwnClass, ownGatewayClass } from './gateway-class.ts'
import type { GatewayClass } from './kinds/gateway-kinds.ts'
import { object } from './simulated-objects.harness.ts'

const classOf = (spec: Partial<GatewayClass['spec']> = {}, status?: GatewayClass['status']): GatewayClass => ({
  ...object('coxswain', ''),
  spec: { ...ownGatewayClass.spec, ...spec },
  ...(status === undefined ? {} : { status }),
})
const parametersRef = { group: '', kind: 'ConfigMap', name: 'x' }

const ownCases: readonly (readonly [string, boolean])[] = [
  ['coxswain.dev/gateway', true],
  ['example.com/gateway', false],
  ['coxswain.dev/gateway/other', false],
]

suite('a class whose controller is', () => {
  for (const [controllerName, expected] of ownCases)
    test(`${controllerName} is ${expected ? 'served' : 'left to others'}`, () =>
      equal(isOwnClass(classOf({ controllerName })), expected))
})

test('a class with parameters is not accepted', () => {
  equal(acceptedClass(classOf()).isMet, true)
  const { isMet, reason, message } = acceptedClass(classOf({ parametersRef }))
  deepEqual([isMet, reason, message], [false, 'InvalidParameters', 'parameters of kind ConfigMap are not supported'])
})

const versionCases: readonly (readonly [installed: string | undefined, status: string, message: string])[] = [
  ['v1.0.0', 'True', 'release v1.0.0 is supported'],
  ['v1.4.1', 'True', 'release v1.4.1 is supported'],
  ['v1.4.0-rc.1', 'True', 'release v1.4.0-rc.1 is supported'],
  ['v1.5.0', 'False', 'release v1.5.0 of the definitions is not supported; v1.0 to v1.4 are'],
  ['v0.8.1', 'False', 'release v0.8.1 of the definitions is not supported; v1.0 to v1.4 are'],
  ['v1.40.0', 'False', 'release v1.40.0 of the definitions is not supported; v1.0 to v1.4 are'],
  [undefined, 'False', 'release unknown of the definitions is not supported; v1.0 to v1.4 are'],
]

suite('the status of a class with definitions of', () => {
  for (const [installed, expected, message] of versionCases)
    test(installed ?? 'an unknown release', () => {
      const { conditions = [] } = classStatus(classOf(), installed, 't1')
      const found = conditions.find(({ type }) => type === 'SupportedVersion')
      deepEqual([found?.status, found?.message], [expected, message])
    })
})

test('the status of a class replaces the conditions of a new object and names the features', () => {
  const pending = { type: 'Accepted', status: 'Unknown', reason: 'Pending', message: '', lastTransitionTime: 't0' }
  const status = classStatus(classOf({ parametersRef }, { conditions: [pending] }), 'v1.4.0', 't1')
  deepEqual(
    status.conditions?.map(({ type, reason, lastTransitionTime }) => [type, reason, lastTransitionTime]),
    [
      ['Accepted', 'InvalidParameters', 't1'],
      ['SupportedVersion', 'SupportedVersion', 't1'],
    ],
  )
  deepEqual(
    status.supportedFeatures?.map(({ name }) => name),
    supportedFeatures,
  )
  deepEqual(supportedFeatures.toSorted(), supportedFeatures)
})
