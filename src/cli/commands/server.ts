// coxswain server: the control plane of this machine, one of several that make a highly available cluster.
import { once } from 'node:events'
import { realClock } from '../../base/time/clock.ts'
import { createLog } from '../../base/observability/log.ts'
import { joinServer } from '../../cluster/client/join-token-text.ts'
import { server as startServer, type ServerStart } from '../../cluster/run/server.ts'
import { machineConfigOption } from '../command/config-file.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { clusterFlag } from '../options/data-directory-option.ts'
import { asUsage } from '../options/component-options.ts'
import { controlPlaneChoicesOf, controlPlaneOptions } from '../options/control-plane-options.ts'
import { joinOptions, joinTokenOf } from '../options/join-options.ts'
import { serverChoicesOf, serverOptions } from '../options/server-options.ts'
import { storeChoiceOf } from '../options/store-option.ts'

export const server = defineCommand({
  name: 'server',
  summary: 'runs the control plane of this machine, one of several (API server, controllers, scheduler, etcd)',
  operands: '',
  configFile: 'machine',
  options: {
    ...machineConfigOption,
    init: { type: 'boolean', help: 'begin a control plane: this is its first machine' },
    join: {
      type: 'string',
      value: 'https://<host>:<port>',
      help: 'join the control plane of this server; needed once',
    },
    token: {
      type: 'string',
      value: '<token>',
      help: 'a token for servers (coxswain token create --server); needed once, to join',
    },
    ...joinOptions,
    ...serverOptions,
    bind: {
      type: 'string',
      value: '<address>',
      help: 'the address of this machine for other servers and nodes (when it joins: the one towards that server)',
    },
    store: {
      type: 'string',
      value: 'etcd=<urls>',
      help: 'an etcd that is run by others (a member of etcd runs beside each server)',
    },
    ...controlPlaneOptions,
    verbose: { type: 'boolean', short: 'v', help: 'log more' },
  },
  async run({ options }, { out, err, isTerminal, environment, signal, startedMs }) {
    const { store: _, ...choices } = serverChoicesOf({ ...options, store: undefined }, environment)
    const start = await startOf(options)
    const given = options.store === undefined ? undefined : storeChoiceOf(options)
    if (given !== undefined && given.kind !== 'etcd')
      throw new UsageError(`--store ${options.store}: the servers of a control plane share an etcd: etcd=<urls>`)
    const format = isTerminal ? 'text' : 'json'
    const log = createLog({ clock: realClock, write: err, format, level: options.verbose ? 'debug' : 'info' })
    await using running = await startServer(
      {
        ...choices,
        start,
        host: options.bind,
        store: given,
        ...(await controlPlaneChoicesOf(options)),
        log,
        onProgress: (what) => err(isTerminal ? `${eraseLine}${what} …` : ''),
      },
      signal,
    )
    if (isTerminal) err(eraseLine)
    out(`ready in ${Math.round(realClock.nowMs() - startedMs)} ms at ${running.url}\n`)
    const own = clusterFlag({ 'data-dir': options['data-dir'] })
    out(`
  kubeconfig  ${choices.kubeconfigPath}

  Further machines, each with what these print:
    servers   coxswain token create --server --print-join-command${own}
    nodes     coxswain token create --print-join-command --kubeconfig ${choices.kubeconfigPath}

  Ctrl-C ends it.
`)
    if (!signal.aborted) await once(signal, 'abort')
    return 0
  },
})

/** Returns to the start of the line and erases it. */
const eraseLine = '\r\x1b[2K'

interface StartFlags {
  readonly init?: boolean
  readonly join?: string
  readonly token?: string
  readonly 'token-file'?: string
  readonly 'discovery-token-ca-cert-hash'?: string
}

/** Undefined: this machine is a server already. */
export async function startOf(given: StartFlags): Promise<ServerStart | undefined> {
  const { init, join } = given
  if (init === true && join !== undefined) throw new UsageError('--init and --join exclude one another')
  if (join === undefined) {
    const needless = (['token', 'token-file'] as const).find((flag) => given[flag] !== undefined)
    if (needless !== undefined) throw new UsageError(`--${needless} needs --join https://<server>:6443`)
    return init === true ? { kind: 'init' } : undefined
  }
  const joined = asUsage(() => joinServer(join, '--join'))
  const token = await joinTokenOf(given)
  if (token === undefined)
    throw new UsageError('--join needs --token <token> or --token-file <file> (coxswain token create --server)')
  return { kind: 'join', server: joined, token }
}
