// Flags and variables of `k3s server`, as flags of `coxswain up`. Those that have no counterpart are unknown flags.
import { join } from 'node:path'
import { lookup } from '../../base/collections/lookup.ts'
import { UsageError, type CommandOption } from '../command/command.ts'
import { serverOptions } from './server-options.ts'
import { switchWithoutEffect, withoutEffect } from './accepted-flags.ts'

type Environment = Readonly<Record<string, string | undefined>>

const dataDirectoryDefault = '/var/lib/rancher/k3s'
const kubeconfigDefault = '/etc/rancher/k3s/k3s.yaml'
/** For its owner only. */
const kubeconfigModeDefault = '600'

/** What k3s packages: the flags of `up` without it, or undefined for what is part of Coxswain and stays. */
const components: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = {
  coredns: undefined,
  'local-storage': undefined,
  'metrics-server': undefined,
  runtimes: undefined,
  servicelb: { 'load-balancers': 'none' },
  traefik: { ingress: 'off' },
}

export const k3sOptions = {
  'bind-address': { type: 'string', value: '<address>', help: 'the address to listen on (0.0.0.0)' },
  'https-listen-port': { type: 'string', value: '<port>', help: 'the port to listen on (6443)' },
  'tls-san': serverOptions['tls-san'],
  'data-dir': {
    type: 'string',
    short: 'd',
    value: '<directory>',
    help: `contains the folder server with the data directory, and server/manifests (${dataDirectoryDefault})`,
  },
  disable: {
    type: 'string',
    isRepeatable: true,
    value: '<components>',
    help: `traefik: serve no Ingresses; servicelb: no load balancers. ${staying().join(', ')} are part of Coxswain and stay`,
  },
  'write-kubeconfig': {
    type: 'string',
    short: 'o',
    value: '<file>',
    help: `the kubeconfig for administrators; also $K3S_KUBECONFIG_OUTPUT (${kubeconfigDefault})`,
  },
  'write-kubeconfig-mode': {
    type: 'string',
    value: '<mode>',
    help: `its permissions; also $K3S_KUBECONFIG_MODE (${kubeconfigModeDefault})`,
  },
  'cluster-cidr': { type: 'string', value: '<ranges>', help: 'the addresses of pods' },
  'service-cidr': { type: 'string', value: '<ranges>', help: 'the addresses of Services' },
  'service-node-port-range': { type: 'string', value: '<ports>', help: 'the ports of Services on nodes' },
  debug: { type: 'boolean', help: 'log more' },
  'disable-cloud-controller': switchWithoutEffect,
  'disable-helm-controller': switchWithoutEffect,
  snapshotter: withoutEffect('<name>'),
} as const satisfies Readonly<Record<string, CommandOption>>

type K3sFlags = { readonly [Name in keyof typeof k3sOptions]?: string | boolean | undefined }

export interface K3sServer {
  readonly dataDirectory: string
  readonly kubeconfig: { readonly path: string; readonly mode: number }
  /** Flags of `coxswain up`. */
  readonly flags: Readonly<Record<string, string | boolean>>
  /** What is set and has no effect, one sentence each. */
  readonly notes: readonly string[]
}

function staying(): readonly string[] {
  return Object.keys(components).filter((name) => lookup(components, name) === undefined)
}

export function k3sServerOf(given: K3sFlags, environment: Environment): K3sServer {
  const text = (flag: keyof K3sFlags, variable = ''): string | undefined =>
    (given[flag] as string | undefined) ?? (lookup(environment, variable) || undefined)
  const disabled = (text('disable') ?? '').split(',').filter((name) => name !== '')
  const unknown = disabled.find((name) => !Object.hasOwn(components, name))
  if (unknown !== undefined)
    throw new UsageError(`--disable ${JSON.stringify(unknown)} is none of ${Object.keys(components).join(', ')}`)
  const dataDirectory = join(text('data-dir') ?? dataDirectoryDefault, 'server')
  const renamed = {
    port: text('https-listen-port'),
    'tls-san': text('tls-san'),
    'cluster-cidr': text('cluster-cidr'),
    'service-cluster-ip-range': text('service-cidr'),
    'service-node-port-range': text('service-node-port-range'),
    verbose: given.debug,
  }
  const chosen = Object.entries(renamed).filter((entry): entry is [string, string | boolean] => entry[1] !== undefined)
  return {
    dataDirectory,
    kubeconfig: {
      path: text('write-kubeconfig', 'K3S_KUBECONFIG_OUTPUT') ?? kubeconfigDefault,
      mode: modeOf(text('write-kubeconfig-mode', 'K3S_KUBECONFIG_MODE') ?? kubeconfigModeDefault),
    },
    flags: {
      'data-dir': dataDirectory,
      bind: text('bind-address') ?? '0.0.0.0',
      'ingress-address': '0.0.0.0',
      ...Object.fromEntries(chosen),
      ...Object.assign({}, ...disabled.map((name) => lookup(components, name) ?? {})),
    },
    notes: [
      ...disabled.filter((name) => staying().includes(name)).map((name) => `${name} is part of Coxswain and stays`),
      ...Object.keys(environment)
        .filter((name) => name.startsWith('K3S_') && !readVariables.includes(name))
        .map((name) => `$${name} has no effect`),
    ],
  }
}

const readVariables: readonly string[] = ['K3S_KUBECONFIG_MODE', 'K3S_KUBECONFIG_OUTPUT']

function modeOf(text: string): number {
  if (!/^0?[0-7]{3}$/.test(text))
    throw new UsageError(`the mode ${JSON.stringify(text)} of the kubeconfig is none such as 644`)
  return Number.parseInt(text, 8)
}
