// Requests that are forwarded to another API server of the cluster.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { context } from '../../base/observability/context.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { OutboundOptions, OutboundProvider, OutboundRequest } from '../../platform/http/outbound.ts'
import type { Extension } from '../request/extension.ts'
import { userWithName, type ApiRequest } from '../request/request.ts'
import { ExtensionConnections } from './extension-connections.ts'
import { ExtensionProxy } from './extension-proxy.ts'
import { resourceNames } from './extensions.ts'

const peer: Extension = {
  name: 'apiserver-b on there',
  group: 'new.k8s.io',
  version: 'v1',
  service: { namespace: '', name: '', port: 0 },
  peer: 'https://192.0.2.1:6443',
  tls: { authority: 'ca' },
  isAvailable: true,
  resource: resourceNames('new.k8s.io', 'v1'),
}

test('a request reaches the other server in the name of its user, once; a server that does not respond is reported', async () => {
  const opened: OutboundOptions[] = []
  const sent: OutboundRequest[] = []
  const state = { isDown: false }
  const outbound = {
    connect(options: OutboundOptions) {
      opened.push(options)
      return {
        async send(request: OutboundRequest) {
          sent.push(request)
          if (state.isDown) throw new Error('connect ECONNREFUSED')
          return { status: 200, headers: {}, body: (async function* () {})() }
        },
        close: () => Promise.resolve(),
      }
    },
  } as unknown as OutboundProvider
  const caches = { observe() {} } as unknown as ConstructorParameters<typeof ExtensionConnections>[0]['caches']
  const proxyIdentity = () => ({ certificate: 'front proxy', key: 'key' })
  const connections = new ExtensionConnections({ outbound, caches, proxyIdentity })
  const failed: string[] = []
  const flow = new FlowRecorder(new VirtualClock())
  const proxy = new ExtensionProxy({ connections, flow, onFailure: ({ name }) => void failed.push(name) })
  const uri = '/apis/new.k8s.io/v1/things?limit=1'
  const request = {
    context: context(new AbortController().signal),
    user: { ...userWithName('jane'), groups: ['dev'] },
    target: {
      kind: 'resource',
      verb: 'list',
      resource: peer.resource('things', false),
      subresource: '',
      namespace: '',
      name: '',
    },
    body: { kind: 'none' },
    origin: { uri, remoteAddress: '192.0.2.9' },
  } as unknown as ApiRequest

  equal((await proxy.handle(request, peer)).kind, 'wire')
  deepEqual(opened, [
    { origin: 'https://192.0.2.1:6443', tls: { authority: 'ca', certificate: 'front proxy', key: 'key' } },
  ])
  const [first] = sent
  const headers = new Map(Object.entries(first?.headers ?? {}))
  deepEqual(
    [
      first?.target,
      ...['x-kubernetes-peer-proxied', 'x-remote-user', 'x-remote-group'].map((name) => headers.get(name)),
    ],
    [uri, 'true', 'jane', ['dev']],
  )

  state.isDown = true
  await rejects(async () => proxy.handle(request, peer), {
    code: 503,
    message: 'the API server apiserver-b on there does not respond: connect ECONNREFUSED',
  })
  deepEqual(failed, [peer.name])
})
