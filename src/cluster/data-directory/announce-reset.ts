// announceReset: a node that is reset notifies its cluster, with what it has to identify itself, before that is deleted. Its pods are then
// replaced as those of a node that is not ready. A node may not delete its own Node object.
import { errorText } from '../../base/observability/log.ts'
import { realClock, rfc3339 } from '../../base/time/clock.ts'
import { selfSubjectReview } from '../../api/authentication/v1/self-subject-review.ts'
import { event } from '../../api/core/v1/event.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { context } from '../../base/observability/context.ts'
import { nodeNameOf } from '../../apiserver/authorization/node/node-user.ts'
import type { Client } from '../../client/client.ts'
import { parseServers } from '../../client/server-balancer/published-servers.ts'
import { openRemote, type RemoteOptions } from '../client/remote.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { knownServersFile } from './directory-contents.ts'

export type AnnounceOutcome =
  | { readonly kind: 'announced'; readonly node: string }
  /** It has no Node object any more. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly why: string }

const totalMsMax = 10_000
const reason = 'NodeReset'
const message = 'this machine was reset and runs no kubelet any more'

/** Undefined where no kubelet has joined a cluster. */
export async function announceReset(directory: string, signal: AbortSignal): Promise<AnnounceOutcome | undefined> {
  const { files } = nodePlatform
  const textIn = async (name: string) => {
    const content = await files.read(`${directory}/${name}`)
    return content && new TextDecoder().decode(content)
  }
  const kubeconfig = await textIn('kubelet.kubeconfig')
  if (kubeconfig === undefined) return undefined
  const late = new AbortController()
  const timer = realClock.after(totalMsMax, () => late.abort(new Error('no API server has responded in time')))
  const stop = AbortSignal.any([signal, late.signal])
  let why = ''
  try {
    // That of the kubeconfig may be the balancer of this machine, which has ended with the kubelet.
    for (const options of [{}, ...serversIn(await textIn(knownServersFile))])
      try {
        await using remote = await openRemote(kubeconfig, stop, options)
        return await announce(remote.clientAs('coxswain reset'), stop)
      } catch (error) {
        signal.throwIfAborted()
        why = errorText(error)
        if (late.signal.aborted) break
      }
  } finally {
    timer.cancel()
  }
  return { kind: 'failed', why }
}

function serversIn(text: string | undefined): readonly RemoteOptions[] {
  try {
    return text === undefined ? [] : parseServers(text).map((through) => ({ through }))
  } catch {
    return [] // a damaged list is as good as none here
  }
}

async function announce(client: Client, signal: AbortSignal): Promise<AnnounceOutcome> {
  const ctx = context(signal)
  const { status } = await client.of(selfSubjectReview).create({ metadata: {} }, '', ctx)
  const { username = '', groups = [] } = status.userInfo ?? {}
  const name = nodeNameOf({ name: username, groups, uid: '', extra: {} })
  if (name === undefined) throw new Error(`${username} is no node`)
  const found = await client.of(node).find(name, '', ctx)
  if (found === undefined) return { kind: 'gone' }
  const now = rfc3339(realClock.nowMs())
  const ready = { type: 'Ready', status: 'False', reason, message, lastHeartbeatTime: now, lastTransitionTime: now }
  await client.of(node).patch(name, '', { status: { conditions: [ready] } }, 'strategic', ctx, 'status')
  const involvedObject = { apiVersion: node.apiVersion, kind: node.kind, name, uid: found.metadata.uid }
  await client.of(event).create(
    {
      metadata: { generateName: `${name}-reset-` },
      involvedObject,
      type: 'Warning',
      reason,
      message,
      source: { component: 'coxswain-reset', host: name },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    },
    'default',
    ctx,
  )
  return { kind: 'announced', node: name }
}
