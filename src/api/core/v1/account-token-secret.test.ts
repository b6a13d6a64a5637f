import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { objectFrom } from '../../kind/kind.harness.ts'
import { accountNameOf, isTokenSecret, tokenInvalidSince, tokenOf } from './account-token-secret.ts'
import { secret } from './secret.ts'

test('a Secret has the account of its token, and since when it is invalid', () => {
  const kept = objectFrom(secret, {
    metadata: {
      name: 's',
      namespace: 'default',
      annotations: { 'kubernetes.io/service-account.name': 'robot' },
      labels: { 'kubernetes.io/legacy-token-invalid-since': '2030-01-01' },
    },
    type: 'kubernetes.io/service-account-token',
    data: { token: btoa('abc') },
  })
  deepEqual(
    [isTokenSecret(kept), accountNameOf(kept), tokenOf(kept), tokenInvalidSince(kept)],
    [true, 'robot', 'abc', '2030-01-01'],
  )
  const other = objectFrom(secret, { metadata: { name: 'o', namespace: 'default' } })
  deepEqual(
    [isTokenSecret(other), accountNameOf(other), tokenOf(other), tokenInvalidSince(other)],
    [false, '', '', undefined],
  )
})
