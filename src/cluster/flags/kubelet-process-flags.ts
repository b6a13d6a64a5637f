// The flags of `coxswain kubelet` in addition to those of every kubelet: addresses, registration and security.
import { readFileSync } from 'node:fs'
import type { NodeTaint } from '../../kubelet/node/node-status.ts'
import { countIn, listIn, timeIn } from './kubelet-flag-values.ts'

export const kubeletProcessFlags = {
  address: { value: '<address>', help: 'the address to listen on (the address of the node)' },
  'authentication-token-webhook-cache-ttl': { value: '<time>', help: 'how long an authenticated token is cached (2m)' },
  'authorization-webhook-cache-authorized-ttl': { value: '<time>', help: 'how long allowed answers are cached (5m)' },
  'authorization-webhook-cache-unauthorized-ttl': { value: '<time>', help: 'how long denied answers are cached (30s)' },
  'cert-dir': { value: '<directory>', help: 'the directory of certificates (pki in the data directory)' },
  'client-ca-file': { value: '<file>', help: 'the CA of client certificates (the CA of the kubeconfig)' },
  'container-runtime-endpoint': {
    value: 'unix://<socket>',
    help: 'the socket of a running container runtime; without it a containerd is started',
  },
  'healthz-bind-address': { value: '<address>', help: 'the address of /healthz without TLS (127.0.0.1)' },
  'healthz-port': { value: '<n>', help: 'the port of /healthz; 0 for none (10248)' },
  'hostname-override': { value: '<name>', help: 'the name of the node (the host name)' },
  'node-ip': { value: '<address>', help: 'the address of the node (the one used to reach the API server)' },
  'node-labels': { value: '<list>', help: 'labels of the node when it registers: disk=ssd,zone=a' },
  port: { value: '<n>', help: 'the port to listen on; 0 for any free one (10250)' },
  'register-with-taints': { value: '<list>', help: 'taints of the node when it registers: key=value:NoSchedule' },
  'rotate-certificates': { value: 'true|false', help: 'renew the client certificate before it expires (true)' },
  'rotate-server-certificates': {
    value: 'true|false',
    help: 'request the serving certificate from the cluster instead of a self-signed one (false)',
  },
  'tls-cert-file': { value: '<file>', help: 'the serving certificate' },
  'tls-private-key-file': { value: '<file>', help: 'the key of the serving certificate' },
} as const

export type KubeletProcessFlag = keyof typeof kubeletProcessFlags
export type KubeletProcessFlagValues = Readonly<Partial<Record<KubeletProcessFlag, string>>>

export interface KubeletProcessSettings {
  readonly address: string | undefined
  readonly port: number
  /** Undefined: not served. */
  readonly health: { readonly host: string; readonly port: number } | undefined
  readonly certificateDirectory: string | undefined
  /** PEM */
  readonly clientAuthority: string | undefined
  readonly runtimeSocket: string | undefined
  readonly nodeName: string | undefined
  readonly nodeIp: string | undefined
  readonly labels: Readonly<Record<string, string>>
  readonly taints: readonly NodeTaint[]
  readonly rotatesClient: boolean
  readonly rotatesServing: boolean
  readonly serving: { readonly certificate: string; readonly key: string } | undefined
  readonly reviews: { readonly tokenMs: number; readonly allowedMs: number; readonly deniedMs: number }
}

const portMax = 65_535

/** Throws with the name of an invalid flag. */
export function kubeletProcessSettings(flags: KubeletProcessFlagValues): KubeletProcessSettings {
  const about = <T>(flag: KubeletProcessFlag, read: (text: string | undefined) => T): T => {
    try {
      return read(flags[flag])
    } catch (error) {
      throw new Error(`--${flag}: ${(error as Error).message}`, { cause: error })
    }
  }
  const port = (flag: 'port' | 'healthz-port', fallback: number) =>
    about(flag, (text) => countIn(text, fallback, portMax))
  const time = (flag: KubeletProcessFlag, fallback: number) => about(flag, (text) => timeIn(text, fallback))
  const isOn = (flag: KubeletProcessFlag, fallback: boolean) => about(flag, (text) => truthIn(text, fallback))
  const healthPort = port('healthz-port', 10_248)
  return {
    address: flags.address,
    port: port('port', 10_250),
    health: healthPort === 0 ? undefined : { host: flags['healthz-bind-address'] ?? '127.0.0.1', port: healthPort },
    certificateDirectory: flags['cert-dir'],
    clientAuthority: about('client-ca-file', fileIn),
    runtimeSocket: about('container-runtime-endpoint', socketIn),
    nodeName: flags['hostname-override'],
    nodeIp: flags['node-ip'],
    labels: about('node-labels', labelsIn),
    taints: about('register-with-taints', taintsIn),
    rotatesClient: isOn('rotate-certificates', true),
    rotatesServing: isOn('rotate-server-certificates', false),
    serving: servingIn(about('tls-cert-file', fileIn), about('tls-private-key-file', fileIn)),
    reviews: {
      tokenMs: time('authentication-token-webhook-cache-ttl', 120_000),
      allowedMs: time('authorization-webhook-cache-authorized-ttl', 300_000),
      deniedMs: time('authorization-webhook-cache-unauthorized-ttl', 30_000),
    },
  }
}

const fileIn = (path: string | undefined): string | undefined =>
  path === undefined ? undefined : readFileSync(path, 'utf8')

function servingIn(certificate: string | undefined, key: string | undefined): KubeletProcessSettings['serving'] {
  if (certificate === undefined && key === undefined) return undefined
  if (certificate === undefined || key === undefined)
    throw new Error('--tls-cert-file and --tls-private-key-file belong together')
  return { certificate, key }
}

function truthIn(text: string | undefined, fallback: boolean): boolean {
  if (text !== undefined && text !== 'true' && text !== 'false')
    throw new Error(`${JSON.stringify(text)} is neither true nor false`)
  return text === undefined ? fallback : text === 'true'
}

/** `unix:///run/containerd/containerd.sock`, or the path alone. */
function socketIn(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const path = text.replace(/^unix:(?:\/\/)?/, '')
  if (!path.startsWith('/'))
    throw new Error(`${JSON.stringify(text)} is no unix socket such as unix:///run/containerd.sock`)
  return path
}

/** Kubernetes' own labels that a node may set on itself, as upstream. */
const ownLabels = [
  ...['hostname', 'arch', 'os', 'instance-type'].flatMap((name) => [
    `kubernetes.io/${name}`,
    `beta.kubernetes.io/${name}`,
  ]),
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'node.kubernetes.io/instance-type',
  'node.kubernetes.io/windows-build',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
].filter((name) => name !== 'kubernetes.io/instance-type' && name !== 'beta.kubernetes.io/hostname')
const ownPrefixes = ['kubelet.kubernetes.io', 'node.kubernetes.io']

function labelsIn(text: string | undefined): Readonly<Record<string, string>> {
  const labels = Object.fromEntries(
    listIn(text).map((pair) => {
      const [key = '', value = ''] = pair.split('=', 2)
      return [key, value]
    }),
  )
  const foreign = Object.keys(labels).filter((key) => !mayBeOwn(key))
  if (foreign.length > 0)
    throw new Error(
      `unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [${foreign.join(' ')}]; ` +
        `they must begin with an allowed prefix (${ownPrefixes.join(', ')}) or be in the specifically allowed set ` +
        `(${ownLabels.toSorted().join(', ')})`,
    )
  return labels
}

function mayBeOwn(key: string): boolean {
  const domain = key.includes('/') ? (key.split('/')[0] ?? '') : ''
  const isWithin = (parent: string) => domain === parent || domain.endsWith(`.${parent}`)
  return !isWithin('kubernetes.io') && !isWithin('k8s.io')
    ? true
    : ownLabels.includes(key) || ownPrefixes.some(isWithin)
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const

const taintsIn = (text: string | undefined): readonly NodeTaint[] =>
  listIn(text).map((part) => {
    const [, key = '', value, named] = /^([^=:]+)(?:=([^:]*))?:(.+)$/.exec(part) ?? []
    const effect = effects.find((each) => each === named)
    if (effect === undefined) throw new Error(`${JSON.stringify(part)} is no taint such as key=value:NoSchedule`)
    return value === undefined || value === '' ? { key, effect } : { key, value, effect }
  })
