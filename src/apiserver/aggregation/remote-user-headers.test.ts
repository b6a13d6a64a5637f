// The headers of a user at an extension server.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { remoteUserHeaders } from './remote-user-headers.ts'

test('groups and extra values are lists; extra keys are escaped', () => {
  const extra = { 'example.com/scopes': ['a', 'b'], 'ä%': ['c'] }
  deepEqual(remoteUserHeaders({ name: 'ann', uid: '7', groups: ['x', 'y'], extra }), {
    'x-remote-user': 'ann',
    'x-remote-uid': '7',
    'x-remote-group': ['x', 'y'],
    'x-remote-extra-example.com%2Fscopes': ['a', 'b'],
    'x-remote-extra-%C3%A4%25': ['c'],
  })
})

test('what a user does not have is not sent', () => {
  deepEqual(remoteUserHeaders({ name: 'ann', uid: '', groups: [], extra: {} }), { 'x-remote-user': 'ann' })
})
