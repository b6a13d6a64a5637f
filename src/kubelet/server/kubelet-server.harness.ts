// A kubelet's server on simulated containers, without sockets.
import { createHash } from 'node:crypto'
import { silentLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { SystemLog } from '../../machine/logs/system-logs.ts'
import { plainContainer, plainSandbox } from '../../machine/runtime/runtime-config.ts'
import type { RemoteStreams } from '../../machine/runtime/container-runtime.ts'
import { SimulatedRuntime } from '../../machine/runtime/simulated-runtime.ts'
import { nodeInflateRaw } from '../../platform/node/inflate.ts'
import type { WireResponse, WireRequest } from '../../platform/http/listener.ts'
import type { OutboundProvider } from '../../platform/http/outbound.ts'
import type { KubeletHost } from './kubelet-host.ts'
import { KubeletServer } from './kubelet-server.ts'

export const { signal } = new AbortController()
export const encode = (text: string) => new TextEncoder().encode(text)
export const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
export const master = {
  commonName: 'kube-apiserver-kubelet-client',
  organizations: ['system:masters'],
  fingerprint: '',
  trustedFor: ['users'],
  validToMs: Date.UTC(2100, 0),
} as const

export const proxy = { ...master, trustedFor: ['proxies'] } as const

export interface Asked {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly certificate?: WireRequest['certificate']
}

export interface Options {
  readonly streams?: RemoteStreams
  readonly exchange?: OutboundProvider['exchange']
}

export async function startNode({
  streams,
  exchange = () => Promise.reject(new Error('no outbound request is expected')),
}: Options = {}) {
  const clock = new VirtualClock()
  const end = new AbortController()
  const simulated = new SimulatedRuntime(clock, seededRandom(1), {
    images: {
      talks({ log, terminated, serveHttp }) {
        serveHttp(80, ({ path }) => ({ status: 200, body: `page ${path}` }))
        log('hello')
        log('world')
        return new Promise((resolve) => {
          terminated.addEventListener('abort', () => resolve(0))
          end.signal.addEventListener('abort', () => {
            log('bye')
            resolve(0)
          })
        })
      },
    },
    async command(command, _container, { stdin, stdout }) {
      if (command[0] !== 'cat') return { exitCode: command.length, stdout: command.join(' '), stderr: 'warned' }
      for await (const piece of stdin) await stdout(encode(decode(piece).toUpperCase()))
      return { exitCode: 0 }
    },
  })
  const runtime: KubeletHost['runtime'] = {
    name: simulated.name,
    streams: streams ?? simulated.streams,
    podUids: (stop) => simulated.podUids(stop),
    inspect: (uid, stop) => simulated.inspect(uid, stop),
    exec: (container, command, timeoutMs, stop) => simulated.exec(container, command, timeoutMs, stop),
  }
  const sandbox = plainSandbox('uid', 'default', 'web')
  const sandboxId = await simulated.runSandbox(sandbox, signal)
  const id = await simulated.createContainer(sandboxId, plainContainer('main', 'talks'), sandbox, signal)
  await simulated.startContainer(id, signal)
  const containerStatuses = [
    { name: 'main', containerID: `simulated://${id}`, state: { running: {} } },
    { name: 'late', state: { waiting: { reason: 'ContainerCreating' } } },
  ]
  const pod = {
    metadata: { namespace: 'default', name: 'web', uid: 'uid' },
    status: { containerStatuses },
  } as unknown as Pod
  const server = new KubeletServer({
    host: {
      nodeName: 'n',
      runtime,
      logs: simulated.logs,
      pod: (_, name) => (name === 'web' ? pod : undefined),
      pods: () => Promise.resolve([pod]),
      probeMetrics: () => 'prober_probe_total 1\n',
      configuration: { kind: 'KubeletConfiguration' },
      systemLogs: { find: (path) => Promise.resolve(systemLog(path)) },
    },
    auth: {
      authenticateToken: (token) => Promise.resolve(token === 'good' ? { name: 'robot', groups: [] } : undefined),
      authorize: ({ name, groups }, verb, part) =>
        Promise.resolve(groups.includes('system:masters') || (name === 'robot' && verb === 'get' && part === 'pods')),
    },
    outbound: { exchange },
    sha1: (text) => createHash('sha1').update(text).digest(),
    inflateRaw: nodeInflateRaw,
    clock,
    log: silentLog,
  })
  const ask = (target: string, { method = 'GET', headers = {}, certificate = master }: Asked = {}) =>
    server.handle({
      method,
      target,
      headers,
      remoteAddress: '',
      certificate: 'authorization' in headers || 'anonymous' in headers ? undefined : certificate,
      headerValues: () => [],
      signal,
      cancel: () => {},
      upgrade: 'upgrade' in headers,
      body: () => Promise.resolve(new Uint8Array()),
    })
  return { ask, end: () => end.abort() }
}

export function systemLog(path: string): SystemLog | undefined {
  if (/^\/?(deep\/?)?$/.test(path)) return { kind: 'directory', names: ['a:b', 'a<b', 'deep/', 'what?'] }
  if (!path.startsWith('/sys log')) return undefined
  return {
    kind: 'file',
    modifiedMs: 0,
    async *content() {
      yield encode('a line\n')
    },
  }
}

export async function textOf({ body }: WireResponse): Promise<string> {
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return decode(body)
  if ('take' in body) throw new Error('the response has no text body')
  let text = ''
  for await (const piece of body) text += typeof piece === 'string' ? piece : decode(piece)
  return text
}
