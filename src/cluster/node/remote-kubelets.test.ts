import { equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { remoteKubelets } from './remote-kubelets.ts'

test('pods of simulated nodes are not reached over the network', async () => {
  const called: string[] = []
  const outbound = {
    exchange({ origin }: { readonly origin: string }) {
      called.push(origin)
      return Promise.resolve({ kind: 'answer', status: 200, headers: {}, body: (async function* () {})() } as const)
    },
  }
  const kubelets = remoteKubelets({ outbound, tls: {}, findNode: () => undefined }, () => ['10.244.0.0/24'])
  const call = (origin: string) =>
    kubelets.callPod({ origin, method: 'GET', path: '/', headers: {}, body: undefined }, new AbortController().signal)
  for (const origin of ['http://10.244.0.9:80', 'http://192.0.2.1:80']) await rejects(call(origin), /no way leads to/)
  equal((await call('http://10.244.1.9:80')).status, 200)
  equal(called.join(), 'http://10.244.1.9:80')
})
