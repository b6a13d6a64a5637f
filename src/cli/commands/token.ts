// coxswain token: bootstrap tokens, with which other machines join the cluster.
import { join } from 'node:path'
import { context } from '../../base/observability/context.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { systemRandom } from '../../base/random/random.ts'
import { durationMs, realClock } from '../../base/time/clock.ts'
import {
  createJoinToken,
  deleteJoinToken,
  listJoinTokens,
  type ListedToken,
} from '../../cluster/bootstrap/join-token.ts'
import { createServerToken, serverTokenMsMax } from '../../cluster/bootstrap/server-token.ts'
import type { ServerBundle } from '../../cluster/bootstrap/server-bundle.ts'
import { collectServerFiles } from '../../cluster/data-directory/server-files.ts'
import {
  joinCommand,
  joinServer,
  pinnedToken,
  serverJoinCommand,
  tokenIdOf,
} from '../../cluster/client/join-token-text.ts'
import { publishedAuthorities } from '../../cluster/bootstrap/cluster-info.ts'
import { openRemote, type Remote } from '../../cluster/client/remote.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { defineCommand, UsageError, type Terminal } from '../command/command.ts'
import { chooseCluster, clusterOptions, withReachabilityHint } from '../options/choose-cluster.ts'
import { asUsage } from '../options/component-options.ts'
import { clusterNameOptions, dataDirectoryOf } from '../options/data-directory-option.ts'
import { serverForOthers } from '../options/server-for-others.ts'

const { namespace: _, ...options } = clusterOptions
const validDefault = '24h'
const serverValidDefault = '2h'
const sender = 'coxswain token'

interface Choices {
  readonly server?: boolean
  readonly ttl?: string
  readonly description?: string
  readonly pinned?: boolean
  readonly 'print-join-command'?: boolean
  readonly 'server-url'?: string
}

export const token = defineCommand({
  name: 'token',
  summary: 'creates, lists and deletes bootstrap tokens, with which other machines join the cluster',
  operands: 'create|list|delete <id>',
  operandsMax: 2,
  options: {
    ...options,
    ...clusterNameOptions,
    description: { type: 'string', value: '<text>', help: 'create: what the token is for' },
    pinned: {
      type: 'boolean',
      help: "create: print the token with the hash of the cluster's CA (K10<hash>::<id>.<secret>)",
    },
    'print-join-command': {
      type: 'boolean',
      help: 'create: print the command for the other machine instead of the token',
    },
    server: {
      type: 'boolean',
      help: 'create: a token with which a machine can become a server; it gives access to the keys of the cluster',
    },
    'server-url': {
      type: 'string',
      value: '<url>',
      help: 'create --print-join-command: where the other machine reaches the API server, if this machine has several addresses',
    },
    ttl: {
      type: 'string',
      value: '<duration>',
      help: `create: how long it can be used; 0s: until it is deleted (${validDefault}; with --server ${serverValidDefault}, 24h at most)`,
    },
  },
  async run(
    { operands: [action, named, ...more], options: { kubeconfig, context: contextName, ...chosen } },
    terminal,
  ) {
    const { 'data-dir': directory, name, ...choices } = chosen
    const { environment, signal } = terminal
    const own = dataDirectoryOf({ 'data-dir': directory, name }, environment)
    const act = actionOf(action, named, choices, own)
    if (act === undefined || more.length > 0) throw new UsageError('the operands are: create, list, delete <id>')
    const isOwn = directory !== undefined || name !== undefined
    const path = kubeconfig ?? (isOwn ? join(own, 'admin.kubeconfig') : undefined)
    const place = { ...(path && { kubeconfig: path }), ...(contextName && { context: contextName }) }
    const cluster = await chooseCluster(place, environment)
    return withReachabilityHint(cluster, async () => {
      await using remote = await openRemote(cluster.kubeconfig, signal)
      return await act(remote, terminal)
    })
  },
})

type Action = (remote: Remote, terminal: Terminal) => Promise<number>

/** Undefined if the operands name none. */
function actionOf(
  action: string | undefined,
  named: string | undefined,
  choices: Choices,
  directory: string,
): Action | undefined {
  const [flag] = action === 'create' ? [] : Object.keys(choices)
  if (action === 'delete' && named !== undefined && flag === undefined) {
    const id = asUsage(() => tokenIdOf(named))
    return (remote, terminal) => remove(id, remote, terminal)
  }
  if (named !== undefined || !['create', 'list'].includes(action ?? '')) return undefined
  if (flag !== undefined) throw new UsageError(`--${flag} is a flag of: coxswain token create`)
  if (action === 'list') return list
  const { 'server-url': url } = choices
  if (url !== undefined && choices['print-join-command'] !== true)
    throw new UsageError('--server-url has no effect without --print-join-command')
  if (url !== undefined) asUsage(() => joinServer(url, '--server-url'))
  const isServer = choices.server === true
  const validMs = asUsage(() => durationMs(choices.ttl ?? (isServer ? serverValidDefault : validDefault)))
  if (!isServer) return (remote, terminal) => create(validMs, choices, remote, terminal)
  if (validMs < 1 || validMs > serverTokenMsMax)
    throw new UsageError(
      `--ttl ${choices.ttl}: a token for servers is valid for 24h at most, because it gives access to keys`,
    )
  return (remote, terminal) => create(validMs, choices, remote, terminal, directory)
}

async function create(
  validMs: number,
  { description, pinned, 'print-join-command': isJoin = false, 'server-url': url }: Choices,
  remote: Remote,
  { out, signal }: Terminal,
  /** That of a server, for a token of servers. */
  directory?: string,
): Promise<number> {
  const server = isJoin ? (url ?? (await serverForOthers(remote, '--server-url', signal))) : ''
  const deps = { client: remote.clientAs(sender), random: systemRandom, clock: realClock }
  // A machine sends it to no other cluster.
  const isPinned = isJoin || pinned === true || directory !== undefined
  const authorities = isPinned ? await publishedAuthorities(deps.client, context(signal)) : ''
  const chosen = { validMs, description }
  const created =
    directory === undefined
      ? await createJoinToken(deps, chosen, context(signal))
      : await createServerToken(deps, chosen, await ownFiles(directory, authorities), context(signal))
  const shown = isPinned ? pinnedToken(created, authorities, nodePlatform.crypto) : created
  const command = directory === undefined ? joinCommand : serverJoinCommand
  out(`${isJoin ? command(server, shown) : shown}\n`)
  return 0
}

async function ownFiles(directory: string, authorities: string): Promise<ServerBundle> {
  const bundle = await collectServerFiles(directory)
  if (!authorities.includes(lookup(bundle.files, 'ca.crt')?.trim() ?? ''))
    throw new UsageError(`${directory} has the keys of another cluster than the kubeconfig; name it with --data-dir`)
  return bundle
}

async function list(remote: Remote, { out, signal }: Terminal): Promise<number> {
  const tokens = await listJoinTokens(remote.clientAs(sender), context(signal))
  const rows = [['ID', 'TTL', 'EXPIRES', 'USAGES', 'DESCRIPTION', 'EXTRA GROUPS'], ...tokens.map(cellsOf)]
  const widths = rows[0]?.map((_head, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  for (const row of rows)
    out(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('   ')
        .trimEnd()}\n`,
    )
  return 0
}

const cellsOf = ({ id, expiration, usages, description, groups }: ListedToken): string[] => [
  id,
  expiration === undefined ? '<forever>' : remaining(Date.parse(expiration) - realClock.nowMs()),
  expiration ?? '<never>',
  usages.join(',') || '<none>',
  // A line for each token, whatever its description contains.
  description.replaceAll(/[\p{C}\p{Z}]/gu, ' ') || '<none>',
  groups || '<none>',
]

/** As kubeadm: the largest unit only. */
function remaining(ms: number): string {
  if (!(ms > 0)) return '<invalid>'
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return `${Math.floor(ms / 1000)}s`
  if (minutes < 60) return `${minutes}m`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)}h` : `${Math.floor(minutes / 1440)}d`
}

async function remove(id: string, remote: Remote, { out, err, signal }: Terminal): Promise<number> {
  if (await deleteJoinToken(remote.clientAs(sender), id, context(signal))) {
    out(`bootstrap token ${JSON.stringify(id)} deleted\n`)
    return 0
  }
  err(`coxswain token: there is no token ${JSON.stringify(id)}\n`)
  return 1
}
