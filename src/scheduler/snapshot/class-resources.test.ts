// The device class of an extended resource: by the class's own name, by extendedResourceName, and the newest of
// several.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { deviceClass } from '../../api/resource/v1/device-class.ts'
import { made } from '../scheduler.harness.ts'
import { ClassResources } from './class-resources.ts'

const gpu = 'example.com/gpu'
const named = (name: string, creationTimestamp: string, extendedResourceName?: string) =>
  made(deviceClass, name, {
    metadata: { creationTimestamp },
    spec: { ...(extendedResourceName && { extendedResourceName }) },
  })
const early = '2030-01-01T00:00:00Z'
const late = '2030-01-02T00:00:00Z'

const rows: readonly [why: string, classes: ReturnType<typeof named>[], resource: string, name: string | undefined][] =
  [
    ['the class that names the resource', [named('a', early, gpu)], gpu, 'a'],
    ['no class names the resource', [named('a', early)], gpu, undefined],
    ['a class by its own name', [named('a', early)], 'deviceclass.resource.kubernetes.io/a', 'a'],
    ['the newest class', [named('a', late, gpu), named('b', early, gpu)], gpu, 'a'],
    [
      'the first by name of classes with the same creation time',
      [named('b', early, gpu), named('a', early, gpu)],
      gpu,
      'a',
    ],
    ['a name that is not an extended resource', [named('a', early, 'cpu')], 'cpu', undefined],
  ]
for (const [why, classes, resource, name] of rows)
  test(`a class for a resource: ${why}`, () => {
    const resources = new ClassResources()
    for (const each of classes) resources.set(each.metadata.name, each)
    equal(resources.classFor(resource), name)
  })

test('set() reports a change only when the resource of a class changes', () => {
  const resources = new ClassResources()
  equal(resources.set('a', named('a', early)), true)
  equal(resources.set('a', named('a', early)), false)
  equal(resources.set('a', named('a', early, gpu)), true)
  equal(resources.set('a', undefined), true)
  equal(resources.set('a', undefined), false)
})
