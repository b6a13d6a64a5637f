// coxswain reset: removes the cluster or the kubelet of this machine.
import type { StoreChoice } from '../../cluster/data-directory/open-store.ts'
import type { AnnounceOutcome } from '../../cluster/data-directory/announce-reset.ts'
import type { LeaveOutcome } from '../../cluster/data-directory/leave-members.ts'
import type { Marker } from '../../cluster/data-directory/directory-marker.ts'
import { markerForReset, resetDirectory, type ResetReport } from '../../cluster/data-directory/reset-directory.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { clusterNameOptions, dataDirectoryOf } from '../options/data-directory-option.ts'
import { storeChoiceOf, storeOptions } from '../options/store-option.ts'

export const reset = defineCommand({
  name: 'reset',
  summary: 'removes what the cluster, or the kubelet, of this machine has created: objects, keys, kubeconfig entries',
  operands: '',
  options: {
    ...clusterNameOptions,
    ...storeOptions,
    store: {
      type: 'string',
      value: 'etcd=<urls>',
      help: 'an etcd whose keys below /registry are removed too, including those of other writers (the one of the cluster, if it was empty)',
    },
    yes: { type: 'boolean', short: 'y', help: 'removes it; without this flag only the plan is shown' },
  },
  async run({ options }, { out, environment, signal }) {
    const directory = dataDirectoryOf(options, environment)
    const named = options.store === undefined ? undefined : storeChoiceOf(options)
    if (named !== undefined && named.kind !== 'etcd')
      throw new UsageError('--store of reset names an etcd: etcd=<urls>')
    const marker = await markerForReset(directory)
    if (!options.yes) throw new UsageError(`${planText(directory, marker, named)}; use --yes`)
    out(reportText(directory, await resetDirectory(directory, named, signal)))
    return 0
  },
})

/** What would be removed. */
function planText(
  directory: string,
  { kind, kubeconfigs = [], etcd, server }: Marker,
  named: StoreChoice | undefined,
): string {
  const endpoints = named?.kind === 'etcd' ? named.endpoints : etcd?.wasEmpty === true ? etcd.endpoints : []
  return [
    `everything of the ${kind} in ${directory} would be removed`,
    ...kubeconfigs.map((path) => `its entries in ${path}`),
    ...(server?.member === undefined ? [] : [`its member of etcd (${server.member.name})`]),
    ...(endpoints.length === 0 ? [] : [`all keys below /registry in etcd at ${endpoints.join(', ')}`]),
  ].join(', ')
}

function reportText(
  directory: string,
  { kind, kept, nested, isDirectoryRemoved, kubeconfigs, etcd, member, node }: ResetReport,
): string {
  const lines = [
    ...kubeconfigs.map((path) => `The entries of the cluster in ${path} are removed.`),
    ...(etcd?.kind === 'removed' ? [`${etcd.keys} keys are removed from etcd at ${etcd.endpoints.join(', ')}.`] : []),
    ...(etcd?.kind === 'kept'
      ? [
          `The keys in etcd at ${etcd.endpoints.join(', ')} stay, because others were there before this cluster; remove them with --store etcd=<urls>.`,
        ]
      : []),
    ...(member === undefined ? [] : [memberText(member)]),
    ...nodeLines(node),
    `The ${kind} is removed from ${directory}${isDirectoryRemoved ? ', and so is the directory' : ''}.`,
    ...(kept.length > 0 ? [`Not part of the cluster, and still there: ${kept.join(', ')}.`] : []),
    ...nested.map(
      (name) => `${name} is a data directory of its own: coxswain reset --data-dir ${directory}/${name} --yes`,
    ),
    ...(kept.length + nested.length === 0 && !isDirectoryRemoved ? ['The directory is empty.'] : []),
  ]
  return `${lines.join('\n')}\n`
}

function nodeLines(node: AnnounceOutcome | undefined): readonly string[] {
  switch (node?.kind) {
    case undefined:
    case 'gone':
      return []
    case 'announced':
      return [
        `The node ${node.node} is not ready from now on. Remove it from the cluster: coxswain node remove ${node.node}`,
      ]
    case 'failed':
      return [`The cluster was not notified (${node.why}). Remove the node from it: coxswain node remove <name>`]
    default:
      return node satisfies never
  }
}

function memberText(member: LeaveOutcome): string {
  switch (member.kind) {
    case 'left':
      return `The member ${member.name} of etcd has left its cluster.`
    case 'last':
      return `The member ${member.name} of etcd was the last one of its cluster.`
    case 'kept':
      return `The other servers still count on the member ${member.name} of etcd (${member.why}). Remove it on one of them: coxswain member remove ${member.name}`
    default:
      return member satisfies never
  }
}
