import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { certainServer, serverForOthers } from './server-for-others.ts'

const { signal } = new AbortController()

test('a server that listens at an address of its own is the one for others', async () => {
  const server = 'https://192.0.2.1:6443'
  equal(await serverForOthers({ server, authority: undefined }, '--server', signal), server)
})

test('where it is not certain, the message says what to do', () => {
  const local = 'https://127.0.0.1:6443'
  equal(certainServer({ kind: 'found', server: 'https://192.0.2.1:6443' }, local, '--server'), 'https://192.0.2.1:6443')
  throws(() => certainServer({ kind: 'none' }, local, '--server'), {
    name: 'UsageError',
    message: `other machines do not reach ${local}; start the cluster with --bind and its address`,
  })
  throws(
    () =>
      certainServer({ kind: 'several', servers: ['https://192.0.2.1:1', 'https://192.0.2.2:1'] }, local, '--server'),
    {
      name: 'UsageError',
      message:
        'the API server listens at https://192.0.2.1:1, https://192.0.2.2:1; choose with --server the one that the other machine reaches',
    },
  )
})
