// What the page does in a running cluster: applies, logs, terminals, and steps of virtual time.
import type { FlowObject } from '../../../base/observability/flow-recorder.ts'
import type { Reach } from '../../../flows/reach/explain-path.ts'
import type { CreateApi } from '../../calls/workload-calls.ts'
import { channelFrame, channels, exitText } from './exec-channels.ts'
import { readText } from './json-lines.ts'
import type { OpenApiDocument } from '../model/editing/schema-node.ts'
import { fetchJson, fetchOk, uiHeaders } from './requests.ts'
import { resourcePath } from './resource-path.ts'
import type {
  Actions,
  Applied,
  ApplyOptions,
  ClusterClock,
  ClusterObject,
  LogOptions,
  LogSource,
  Resource,
  ShellPlace,
  Terminal,
} from './source.ts'

const podResource: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', isNamespaced: true, verbs: [] }
const fieldManager = 'coxswain-ui'
/** Frames that wait for the connection; what is typed beyond that is dropped. */
const waitingFramesMax = 100

const calls: CreateApi = {
  read: (target, accept, signal) => fetchJson(target, { headers: { accept }, signal }),
  async create(target, object, signal) {
    const headers = { 'content-type': 'application/json', ...uiHeaders }
    await fetchOk(target, { method: 'POST', headers, body: JSON.stringify(object), signal })
  },
  async delete(target, options, signal) {
    const headers = { 'content-type': 'application/json', ...uiHeaders }
    await fetchOk(target, { method: 'DELETE', headers, body: JSON.stringify(options), signal })
  },
  async patch(target, type, patch, signal) {
    const headers = { 'content-type': type, ...uiHeaders }
    await fetchOk(target, { method: 'PATCH', headers, body: JSON.stringify(patch), signal })
  },
}

export class LiveActions implements Actions {
  readonly calls = calls

  async logOut(): Promise<void> {
    await fetchOk('/ui/logout', { method: 'POST', headers: uiHeaders })
  }

  async apply(
    resource: Resource,
    { namespace, name }: FlowObject,
    yaml: string,
    { isDryRun, isForced }: ApplyOptions,
  ): Promise<Applied> {
    const query = new URLSearchParams({ fieldManager, force: String(isForced), ...(isDryRun && { dryRun: 'All' }) })
    const headers = { 'content-type': 'application/apply-patch+yaml', ...uiHeaders }
    const path = `${resourcePath(resource, namespace, name)}?${query}`
    const response = await fetchOk(path, { method: 'PATCH', headers, body: yaml })
    return { object: (await response.json()) as ClusterObject, isCreated: response.status === 201 }
  }

  openApi({ group, version }: Pick<Resource, 'group' | 'version'>): Promise<OpenApiDocument> {
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`
    return fetchJson(`/openapi/v3/${path}`)
  }

  reach({ namespace, name }: FlowObject, target: string): Promise<Reach> {
    const { group, version, plural: resource } = podResource
    const query = new URLSearchParams({ group, version, resource, namespace, name, target })
    return fetchJson(`/ui/api/reach?${query}`)
  }

  async readLog(
    { namespace, pod, container }: LogSource,
    { isPrevious, isFollowed = false, hasTimes = false, tailLines, limitBytes, sinceTime }: LogOptions,
    onText: (text: string) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const query = new URLSearchParams({
      container,
      ...(isPrevious && { previous: 'true' }),
      ...(isFollowed && { follow: 'true' }),
      ...(hasTimes && { timestamps: 'true' }),
      ...(tailLines !== undefined && { tailLines: String(tailLines) }),
      ...(limitBytes !== undefined && { limitBytes: String(limitBytes) }),
      ...(sinceTime !== undefined && { sinceTime }),
    })
    const response = await fetchOk(`${resourcePath(podResource, namespace, pod)}/log?${query}`, { signal })
    if (response.body !== null) await readText(response.body, onText)
  }

  openTerminal(
    { namespace, name }: FlowObject,
    { container, isAttached }: ShellPlace,
    onOutput: (text: string | Uint8Array) => void,
    onEnd: (reason: string) => void,
  ): Terminal {
    const query = new URLSearchParams({ container, stdin: 'true', stdout: 'true', tty: 'true' })
    if (!isAttached) query.set('command', '/bin/sh')
    const subresource = isAttached ? 'attach' : 'exec'
    const url = new URL(`${resourcePath(podResource, namespace, name)}/${subresource}?${query}`, location.href)
    url.protocol = url.protocol.replace('http', 'ws')
    const socket = new WebSocket(url, 'v5.channel.k8s.io')
    socket.binaryType = 'arraybuffer'
    const waiting: Uint8Array<ArrayBuffer>[] = []
    const send = (channel: number, text: string): void => {
      const frame = channelFrame(channel, text)
      if (socket.readyState === WebSocket.OPEN) socket.send(frame)
      else if (socket.readyState === WebSocket.CONNECTING && waiting.length < waitingFramesMax) waiting.push(frame)
    }
    socket.addEventListener('open', () => {
      for (const frame of waiting.splice(0)) socket.send(frame)
    })
    let reason = 'The connection was closed.'
    socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
      const frame = new Uint8Array(data)
      if (frame[0] === channels.error) reason = exitText(new TextDecoder().decode(frame.subarray(1)))
      else if (frame.length > 1) onOutput(frame.subarray(1))
    })
    socket.addEventListener('close', () => onEnd(reason))
    return {
      write: (text) => send(channels.stdin, text),
      resize: (columns, rows) => send(channels.resize, JSON.stringify({ Width: columns, Height: rows })),
      close: () => socket.close(),
    }
  }

  async advanceClock(step: 'event' | number): Promise<ClusterClock | undefined> {
    const headers = { 'content-type': 'application/json', ...uiHeaders }
    const body = JSON.stringify(step === 'event' ? { to: 'next' } : { ms: step })
    return fetchJson('/ui/api/clock', { method: 'POST', headers, body })
  }

  async clock(): Promise<ClusterClock | undefined> {
    const response = await fetch('/ui/api/clock')
    return response.ok ? ((await response.json()) as ClusterClock) : undefined
  }
}
