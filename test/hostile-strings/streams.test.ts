// exec, attach, port forwarding and logs: what the API server sends to a kubelet, and the kubelet to the runtime, from
// requests with hostile texts in any parameter.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import type { Pod } from '../../src/api/core/v1/pod/pod.ts'
import { startServer } from '../../src/apiserver/server.harness.ts'
import type { KubeletCall, PodCall } from '../../src/apiserver/kubelet-client/kubelet-connection.ts'
import { KubeletServer } from '../../src/kubelet/server/kubelet-server.ts'
import { attachRequest, execRequest, portForwardRequest } from '../../src/machine/cri/messages/streaming.ts'
import type { RemoteStreams } from '../../src/machine/runtime/container-runtime.ts'
import { plainContainer, plainSandbox } from '../../src/machine/runtime/runtime-config.ts'
import { SimulatedRuntime } from '../../src/machine/runtime/simulated-runtime.ts'
import { nodeInflateRaw } from '../../src/platform/node/inflate.ts'
import type { OutboundProvider } from '../../src/platform/http/outbound.ts'
import { decodeProto } from '../../src/wire/protobuf/decode-proto.ts'
import { encodeProto } from '../../src/wire/protobuf/encode-proto.ts'
import { messageViolations, requestViolations, type Violation } from './checks.ts'
import { hostileTexts, markOf } from './hostile-texts.ts'
import { sentText } from './sent-text.ts'

const { signal } = new AbortController()
const upgrade = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' }
const forwardUpgrade = { ...upgrade, 'x-stream-protocol-version': 'portforward.k8s.io' }

/** A request with a hostile text at one place. */
interface Probe {
  readonly what: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
}

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())
/** As a client may write it: not every character has to be escaped. */
const bare = (text: string): string => text.toWellFormed().replaceAll(/[^!$'()*+,./:;=@\w~-]/gu, encodeURIComponent)

function probesOf(base: string, pathsOf: (text: string) => readonly string[]): readonly Probe[] {
  return hostileTexts.flatMap(({ name, textOf }, index) => {
    const text = textOf(markOf(index + 1)).slice(0, 4_000)
    return [encoded, bare].flatMap((escape) =>
      pathsOf(escape(text)).flatMap((path) =>
        [upgrade, forwardUpgrade].map((headers) => ({
          what: `${name} in ${path.slice(0, 60)}`,
          target: `${base}${path}`,
          headers,
        })),
      ),
    )
  })
}

const pods = '/api/v1/namespaces/default/pods'

test('the API server sends one request for a stream, whatever its parameters contain', async () => {
  const calls: (KubeletCall | PodCall)[] = []
  const record = (call: KubeletCall | PodCall) => {
    calls.push(call)
    return Promise.resolve({ status: 200, headers: {}, body: 'ok' })
  }
  await using server = await startServer(undefined, { kubelets: { call: record, callPod: record } })
  await server.call('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  const containers = [{ name: 'main', image: 'i', ports: [{ name: 'web', containerPort: 80 }] }]
  await server.call('POST', pods, { metadata: { name: 'web' }, spec: { nodeName: 'n', containers } })
  const status = { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] }
  await server.call('PATCH', `${pods}/web/status`, { status }, { 'content-type': 'application/merge-patch+json' })
  const probes = probesOf(`${pods}/web`, (text) => [
    `/exec?command=${text}&stdout=true`,
    `/exec?command=a&container=${text}&stdout=true`,
    `/exec?command=a&stdout=${text}&stderr=true`,
    `/exec?command=a&${text}=1&stdout=true`,
    `/attach?container=${text}&stdout=true`,
    `/portforward?ports=${text}`,
    `/log?container=${text}`,
    `/log?tailLines=${text}`,
    `/log?sinceTime=${text}`,
  ])
  const violations: Violation[] = []
  for (const { target, headers } of [...probes, ...plainProbes]) {
    calls.length = 0
    await server.head('GET', target, undefined, { ...headers })
    for (const { method, path, headers: sent } of calls) {
      const named = Object.entries(sent).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
      const fields = { host: 'node', ...(Object.fromEntries(named) as Record<string, string>) }
      violations.push(...requestViolations(await sentText({ method, target: path, headers: fields })))
      const [kind = '', namespace, pod, container = 'main', ...others] = path.split('?')[0]?.split('/').slice(1) ?? []
      ok(['exec', 'attach', 'portForward', 'containerLogs'].includes(kind), path)
      deepEqual([namespace, pod, container, others], ['default', 'web', 'main', []], path)
    }
    if (plainProbes.some((each) => each.target === target)) equal(calls.length, 1, target)
  }
  deepEqual(violations, [])
})

const plainProbes: readonly Probe[] = [
  { what: 'exec', target: `${pods}/web/exec?command=a&container=main&stdout=true`, headers: upgrade },
  { what: 'attach', target: `${pods}/web/attach?stdout=true`, headers: upgrade },
  { what: 'forward', target: `${pods}/web/portforward?ports=80`, headers: forwardUpgrade },
]

test('a kubelet passes parameters of streams to the runtime as values, and opens the address that the runtime names', async () => {
  const violations: Violation[] = []
  const opened: string[] = []
  const asked: { readonly id: string; readonly command?: readonly string[]; readonly ports?: readonly number[] }[] = []
  const sent = (what: string, message: Parameters<typeof encodeProto>[0], value: object) => {
    const bytes = encodeProto(message, value as never)
    violations.push(...messageViolations(what, bytes, encodeProto(message, decodeProto(message, bytes) as never)))
  }
  const streams: RemoteStreams = {
    kind: 'remote',
    async execUrl(id, request) {
      asked.push({ id, command: request.command })
      sent('Exec', execRequest, { containerId: id, cmd: request.command, ...request })
      return 'http://127.0.0.1:10010/exec/token'
    },
    async attachUrl(id, request) {
      asked.push({ id })
      sent('Attach', attachRequest, { containerId: id, ...request })
      return 'http://127.0.0.1:10010/attach/token'
    },
    async portForwardUrl(id, ports) {
      asked.push({ id, ports })
      sent('PortForward', portForwardRequest, { podSandboxId: id, port: ports })
      return 'http://127.0.0.1:10010/portforward/token'
    },
  }
  const exchange: OutboundProvider['exchange'] = async ({ origin }, { method, target, headers }) => {
    opened.push(`${origin}${target}`)
    violations.push(...requestViolations(await sentText({ method, target, headers: { host: 'runtime', ...headers } })))
    return { kind: 'answer', status: 200, headers: {}, body: 'ok' } as never
  }
  const { server, sandboxId, containerId } = await kubeletWith(streams, exchange)
  const probes = probesOf('', (text) => [
    `/exec/default/web/main?command=${text}&output=1`,
    `/exec/default/web/${text}?command=a&output=1`,
    `/exec/default/${text}/main?command=a&output=1`,
    `/exec/${text}/web/main?command=a&output=1`,
    `/exec/default/web/${text}/main?command=a&output=1`,
    `/attach/default/web/${text}?output=1`,
    `/attach/default/web/main?output=${text}&error=1`,
    `/portForward/default/web?port=${text}`,
    `/portForward/default/${text}?port=80`,
  ])
  const plain: readonly Probe[] = [
    { what: 'exec', target: '/exec/default/web/main?command=a&command=b&output=1', headers: upgrade },
    { what: 'attach', target: '/attach/default/web/main?output=1', headers: upgrade },
    { what: 'forward', target: '/portForward/default/web?port=80', headers: forwardUpgrade },
  ]
  for (const { target, headers } of [...probes, ...plain])
    await server.handle({
      method: 'POST',
      target,
      headers,
      remoteAddress: '',
      certificate: apiServer,
      signal,
      upgrade: true,
      headerValues: () => [],
      cancel: () => {},
      body: () => Promise.resolve(new Uint8Array()),
    })
  deepEqual(violations, [])
  deepEqual(
    new Set(opened),
    new Set(['exec', 'attach', 'portforward'].map((each) => `http://127.0.0.1:10010/${each}/token`)),
  )
  for (const { id, ports = [] } of asked) {
    ok(id === containerId || id === sandboxId, id)
    ok(
      ports.every((port) => Number.isInteger(port) && port > 0 && port < 65_536),
      String(ports),
    )
  }
  const commands = new Set(asked.flatMap(({ command = [] }) => command))
  for (const [index, { name, textOf }] of hostileTexts.entries())
    ok(
      commands.has(
        textOf(markOf(index + 1))
          .slice(0, 4_000)
          .toWellFormed(),
      ),
      `${name} is one argument of a command`,
    )
})

const apiServer = {
  commonName: 'kube-apiserver-kubelet-client',
  organizations: ['system:masters'],
  fingerprint: '',
  trustedFor: ['users'],
  validToMs: Date.UTC(2100, 0),
} as const

async function kubeletWith(streams: RemoteStreams, exchange: OutboundProvider['exchange']) {
  const clock = new VirtualClock()
  const runtime = new SimulatedRuntime(clock, seededRandom(1), {})
  const sandbox = plainSandbox('uid', 'default', 'web')
  const sandboxId = await runtime.runSandbox(sandbox, signal)
  const containerId = await runtime.createContainer(sandboxId, plainContainer('main', 'i'), sandbox, signal)
  await runtime.startContainer(containerId, signal)
  const pod = { metadata: { namespace: 'default', name: 'web', uid: 'uid' }, status: {} } as unknown as Pod
  const server = new KubeletServer({
    host: {
      nodeName: 'n',
      runtime: {
        name: runtime.name,
        streams,
        podUids: (stop) => runtime.podUids(stop),
        inspect: (uid, stop) => runtime.inspect(uid, stop),
        exec: (id, command, timeoutMs, stop) => runtime.exec(id, command, timeoutMs, stop),
      },
      logs: runtime.logs,
      pod: (namespace, name) => (namespace === 'default' && name === 'web' ? pod : undefined),
      pods: () => Promise.resolve([pod]),
      probeMetrics: () => '',
      systemLogs: { find: () => Promise.resolve(undefined) },
    },
    auth: { authenticateToken: () => Promise.resolve(undefined), authorize: () => Promise.resolve(true) },
    outbound: { exchange },
    sha1: (text) => createHash('sha1').update(text).digest(),
    inflateRaw: nodeInflateRaw,
    clock,
    log: silentLog,
  })
  return { server, sandboxId, containerId }
}
