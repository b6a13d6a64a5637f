import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { compareVersions } from './version-priority.ts'

test('versions are sorted as upstream documents it for CustomResourceDefinitions', () => {
  const sorted = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10']
  deepEqual(sorted.toReversed().toSorted(compareVersions), sorted)
})
