// Device selectors: the variables of expressions, and the errors of invalid ones.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { fieldErrorText } from '../../../schema/validation/field-error.ts'
import { isSelected, selectorErrors } from './device-selector.ts'
import type { Device } from './resource-slice-spec.ts'

const device: Device = {
  name: 'gpu-0',
  attributes: {
    model: { string: 'a100' },
    cores: { int: 64 },
    healthy: { bool: true },
    driverVersion: { version: '1.10.0' },
    'other.example.com/rack': { string: 'r1' },
  },
  capacity: { memory: { value: '40Gi' } },
}

const rows: readonly (readonly [expression: string, isSelected: boolean])[] = [
  [`device.driver == 'gpu.example.com'`, true],
  [`device.attributes['gpu.example.com'].model == 'a100' && device.attributes['gpu.example.com'].cores > 32`, true],
  [`device.attributes['gpu.example.com'].healthy`, true],
  [`device.attributes['gpu.example.com'].driverVersion.isGreaterThan(semver('1.9.0'))`, true],
  [`device.attributes['other.example.com'].rack == 'r2'`, false],
  [`device.capacity['gpu.example.com'].memory.compareTo(quantity('80Gi')) >= 0`, false],
  [`has(device.attributes['unknown.example.com'].x)`, false],
  [`'unknown.example.com' in device.attributes`, false],
  [`device.attributes['unknown.example.com'].?x.orValue('none') == 'none'`, true],
  [`cel.bind(own, device.attributes['gpu.example.com'], own.cores == 64)`, true],
  [`device.allowMultipleAllocations`, false],
]

test('a device is selected by its driver, attributes and capacity', () => {
  for (const [expression, expected] of rows) {
    deepEqual(selectorErrors(expression, 'x'), [], expression)
    equal(isSelected(expression, 'gpu.example.com', device), expected, expression)
    equal(isSelected(expression, 'gpu.example.com', device), expected, `${expression}, again`)
  }
})

test('a missing attribute or a result that is no boolean is an error of the selector', () => {
  const ask = (expression: string) => () => isSelected(expression, 'gpu.example.com', device)
  throws(ask(`device.attributes['gpu.example.com'].missing == 1`), /CEL runtime error: no such key: missing/)
  throws(ask(`device.attributes['gpu.example.com'].cores`), /the expression gave no bool/)
  throws(ask(`device.x`), /CEL compile error: compilation failed: .*undefined field 'x'/)
})

test('a selector that does not compile or is too expensive is rejected', () => {
  const errors = (expression: string) => selectorErrors(expression, 'x').map(fieldErrorText)
  deepEqual(errors(`device.driver`), [
    'x: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string',
  ])
  const domains = 'device.attributes.all(%, %'
  const deep = `${Array.from({ length: 5 }, (_, index) => domains.replaceAll('%', `d${index}`).replace(/, d\d$/, ', ')).join('')}true${')'.repeat(5)}`
  deepEqual(errors(deep), ['x: Forbidden: too complex, exceeds cost limit'])
})
