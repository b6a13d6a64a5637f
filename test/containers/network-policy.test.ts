// Network policies on a real node: containers of a pod start when its policies are enforced, a policy decides who reaches
// it, also through its Service, and probes of the kubelet pass.
import { equal, match } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../until.ts'
import { inNamespaces } from './namespaces.ts'
import { startRealUp, type RealUp } from './up.harness.ts'

const pod = (name: string, image: string, command: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'c',
        image,
        command: ['sh', '-c', command],
        ...(name === 'web' ? { readinessProbe: { tcpSocket: { port: 80 }, periodSeconds: 1 } } : {}),
      },
    ],
  },
})
const policy = (from: string) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'web' },
  spec: {
    podSelector: { matchLabels: { app: 'web' } },
    ingress: [{ from: [{ podSelector: { matchLabels: { app: from } } }], ports: [{ port: 80 }] }],
  },
})

inNamespaces(import.meta.url, () => {
  let up: RealUp
  before(async () => {
    up = await startRealUp()
    await up.apply(policy('other'))
    await up.apply(
      pod('web', up.image, 'echo hello > /tmp/index.html; exec httpd -f -p 80 -h /tmp'),
      pod('client', up.image, 'exec sleep 1000'),
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'web' },
        spec: { clusterIP: '10.96.0.78', selector: { app: 'web' }, ports: [{ port: 80 }] },
      },
    )
    await up.k(['wait', 'pod', 'web', 'client', '--for=condition=Ready', '--timeout=120s'])
  })
  after(async () => up[Symbol.asyncDispose]())

  const fetched = (waitSeconds: number): Promise<string> => {
    const command = `timeout ${waitSeconds} wget -q -O - http://10.96.0.78/ || echo blocked`
    return up.k(['exec', 'client', '--', 'sh', '-c', command])
  }

  test('a pod is ready although a policy blocks all clients, because its node reaches it', async () => {
    match(await fetched(1), /blocked/)
  })

  test('a client that a policy allows reaches the pod through its Service', async () => {
    await up.apply(policy('client'))
    await until(async () => (await fetched(2)).includes('hello'))
    equal(await fetched(5), 'hello\n')
  })
})
