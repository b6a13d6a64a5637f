import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { finalizerWarnings } from './finalizer-warnings.ts'

const withFinalizers = (...finalizers: readonly string[]) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a', uid: '', resourceVersion: '', creationTimestamp: '', finalizers },
})
const conflicts = 'to avoid accidental conflicts with other finalizer writers'

test('finalizers without a domain or a path get a warning when they are added', () => {
  deepEqual(finalizerWarnings(withFinalizers('orphan', 'kubernetes', 'foregroundDeletion', 'example.com/cleanup')), [])
  deepEqual(finalizerWarnings(withFinalizers('finalizer.example.com', 'cleanup')), [
    `metadata.finalizers: "finalizer.example.com": prefer a domain-qualified finalizer name including a path (/) ${conflicts}`,
    `metadata.finalizers: "cleanup": prefer a domain-qualified finalizer name ${conflicts}`,
  ])
  deepEqual(finalizerWarnings(withFinalizers('cleanup'), withFinalizers('cleanup')), [])
})
