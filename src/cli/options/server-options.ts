// Options of every command that runs an API server.
import { join, resolve } from 'node:path'
import { flowEventsDefault } from '../../base/observability/flow-recorder.ts'
import { tlsSansOf } from '../../cluster/certificates/serving-hosts.ts'
import type { StoreChoice } from '../../cluster/data-directory/open-store.ts'
import { featureFlags, featuresOf } from '../../cluster/flags/feature-flags.ts'
import { policyFlags, type PolicyFlag, type PolicyFlagValues } from '../../cluster/flags/policy-flags.ts'
import {
  serviceRangeFlags,
  type ServiceRangeFlag,
  type ServiceRangeFlagValues,
} from '../../cluster/flags/service-ranges.ts'
import { heldBytesLimits, listenLimitsDefault, type ListenLimits } from '../../platform/limits/listen-limits.ts'
import { UsageError } from '../command/command.ts'
import { asUsage } from './component-options.ts'
import { clusterNameOf, dataDirectoryOf, dataDirectoryOptions } from './data-directory-option.ts'
import { storeChoiceOf, storeOptions } from './store-option.ts'

/** Each event takes about 200 bytes plus its strings. */
const flowEventsMax = 1 << 22
/** They are read before a cluster starts. */
const flowKeptMax = 20_000
const connectionsFlagMax = 1_000_000
const megabytesFlagMax = 1 << 16

const policyFlagNames = Object.keys(policyFlags) as PolicyFlag[]
const serviceRangeFlagNames = Object.keys(serviceRangeFlags) as ServiceRangeFlag[]

type TextOption = { readonly type: 'string'; readonly value: string; readonly help: string; readonly section: string }

/** Flags with a string value, as options under a heading of `--help-all`. */
export const optionsOf = <Flag extends string>(
  flags: Readonly<Record<Flag, { readonly value: string; readonly help: string }>>,
  section: string | ((flag: string) => string),
): Record<Flag, TextOption> =>
  Object.fromEntries(
    Object.entries<{ readonly value: string; readonly help: string }>(flags).map(([name, flag]) => [
      name,
      { ...flag, type: 'string', section: typeof section === 'string' ? section : section(name) },
    ]),
  ) as Record<Flag, TextOption>

/** The heading of a flag for authentication, authorization, admission, audit or encryption. */
export function policySection(flag: string): string {
  if (flag.startsWith('audit-')) return 'Audit'
  if (flag.startsWith('authorization-')) return 'Authorization'
  if (flag.includes('admission') || flag.endsWith('-toleration-seconds')) return 'Admission'
  if (flag.startsWith('encryption-')) return 'Encryption at rest'
  if (flag.endsWith('-inflight')) return 'Priority and fairness'
  return flag.startsWith('kubelet-') ? 'Connections to kubelets' : 'Authentication'
}

export const serverOptions = {
  ...dataDirectoryOptions,
  ...storeOptions,
  bind: { type: 'string', value: '<address>', help: 'the address to listen on (127.0.0.1)' },
  port: { type: 'string', value: '<n>', help: 'the port to listen on; 0 for any free one (6443)' },
  'tls-san': {
    type: 'string',
    isRepeatable: true,
    value: '<name>',
    help: "a further name or address in the server's certificate; may be repeated",
  },
  name: {
    type: 'string',
    value: '<name>',
    help: 'the name of the cluster and of its context in kubeconfigs (coxswain)',
  },
  kubeconfig: {
    type: 'string',
    value: '<file>',
    help: 'a kubeconfig that the cluster is added to; other entries are kept (admin.kubeconfig in the data directory)',
  },
  'ui-port': {
    type: 'string',
    value: '<n>',
    help: 'a port for the web UI, which asks browsers for no certificate; 0 for any free one (that of the API)',
    section: 'Web UI',
  },
  'ui-bind': {
    type: 'string',
    value: '<address>',
    help: 'the address of --ui-port (127.0.0.1); the UI is not served to other machines otherwise',
    section: 'Web UI',
  },
  'otlp-endpoint': {
    type: 'string',
    value: '<url>',
    help: 'a collector of OpenTelemetry (OTLP over HTTP) that gets the recorded messages as spans: http://127.0.0.1:4318',
    section: 'Tracing',
  },
  'flow-events': {
    type: 'string',
    value: '<n>',
    help: `how many messages between components are recorded for coxswain flow; 0 records none (${flowEventsDefault})`,
  },
  'flow-keep': {
    type: 'string',
    value: '<n>',
    help: 'how many of them are kept in the data directory when the cluster stops, and are there again after the next start (0)',
  },
  'max-connections': {
    type: 'string',
    value: '<n>',
    help: `connections that are open at a time (${listenLimitsDefault.connectionsMax})`,
  },
  'max-connections-per-client': {
    type: 'string',
    value: '<n>',
    help: `connections of one address, or one IPv6 /64 (${listenLimitsDefault.connectionsPerClientMax})`,
  },
  'max-inflight-megabytes': {
    type: 'string',
    value: '<n>',
    help: `memory for request bodies and unsent responses (${listenLimitsDefault.heldBytesMax >> 20})`,
  },
  ...optionsOf(serviceRangeFlags, 'Addresses and ports of Services'),
  ...optionsOf(featureFlags, 'Features'),
  ...optionsOf(policyFlags, policySection),
} as const

type ServerFlags = { readonly [Name in keyof typeof serverOptions]?: string | undefined }

export interface ServerChoices {
  readonly dataDirectory: string
  readonly name: string
  readonly kubeconfigPath: string
  readonly store: StoreChoice
  readonly host: string
  readonly port: number
  readonly tlsSans: readonly string[]
  readonly otlpEndpoint: URL | undefined
  readonly uiPort: number | undefined
  readonly uiHost: string
  readonly flowEvents: number
  readonly flowKept: number
  readonly limits: Partial<ListenLimits>
  readonly policyFlags: PolicyFlagValues
  readonly serviceRangeFlags: ServiceRangeFlagValues
  readonly hasCoordinatedElection: boolean
  readonly hasNoPeerProxy: boolean
}

function endpointOf(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(`--otlp-endpoint ${JSON.stringify(text)} is not an address such as http://127.0.0.1:4318`)
  return url
}

export function serverChoicesOf(
  flags: ServerFlags,
  environment: Readonly<Record<string, string | undefined>>,
): ServerChoices {
  const dataDirectory = dataDirectoryOf({ 'data-dir': flags['data-dir'] }, environment)
  return {
    dataDirectory,
    name: clusterNameOf(flags.name),
    kubeconfigPath: resolve(flags.kubeconfig ?? join(dataDirectory, 'admin.kubeconfig')),
    store: storeChoiceOf(flags),
    host: flags.bind ?? '127.0.0.1',
    port: numberOf('--port', flags.port ?? '6443', 65_535),
    otlpEndpoint: flags['otlp-endpoint'] === undefined ? undefined : endpointOf(flags['otlp-endpoint']),
    uiPort: flags['ui-port'] === undefined ? undefined : numberOf('--ui-port', flags['ui-port'], 65_535),
    uiHost: flags['ui-bind'] ?? '127.0.0.1',
    tlsSans: sansOf(flags['tls-san']),
    flowEvents: numberOf('--flow-events', flags['flow-events'] ?? String(flowEventsDefault), flowEventsMax),
    flowKept: numberOf('--flow-keep', flags['flow-keep'] ?? '0', flowKeptMax),
    limits: limitsOf(flags),
    policyFlags: pick<PolicyFlag>(flags, policyFlagNames),
    serviceRangeFlags: pick<ServiceRangeFlag>(flags, serviceRangeFlagNames),
    ...asUsage(() => featuresOf(flags)),
  }
}

function sansOf(text: string | undefined): readonly string[] {
  try {
    return tlsSansOf(text)
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

function limitsOf(flags: ServerFlags): Partial<ListenLimits> {
  const { connectionsMax, connectionsPerClientMax, heldBytesMax } = listenLimitsDefault
  const read = (flag: keyof ServerFlags, fallback: number, max: number) =>
    numberOf(`--${flag}`, flags[flag] ?? String(fallback), max, 1)
  return {
    connectionsMax: read('max-connections', connectionsMax, connectionsFlagMax),
    connectionsPerClientMax: read('max-connections-per-client', connectionsPerClientMax, connectionsFlagMax),
    ...heldBytesLimits(read('max-inflight-megabytes', heldBytesMax >> 20, megabytesFlagMax) * (1 << 20)),
  }
}

export const pick = <Flag extends string>(
  options: Readonly<Partial<Record<Flag, string | undefined>>>,
  names: readonly Flag[],
): Readonly<Partial<Record<Flag, string>>> =>
  Object.fromEntries(names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]))) as Partial<
    Record<Flag, string>
  >

export function numberOf(flag: string, text: string, max: number, min = 0): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > max || value < min)
    throw new UsageError(`${flag} ${JSON.stringify(text)} is not a number from ${min} to ${max}`)
  return value
}
