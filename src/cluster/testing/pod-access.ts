// Exec in pods, through the API server of this process.
import type { Context } from '../../base/observability/context.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import { nodeInflateRaw } from '../../platform/node/inflate.ts'
import { byteStreamPair } from '../../wire/byte-pipe.ts'
import { openSpdyStreams, type CommandStreams } from '../../wire/remote-command/command-streams.ts'
import { commandProtocol, spdyUpgradeHeaders } from '../../wire/remote-command/stream-protocols.ts'
import { SpdySession } from '../../wire/spdy/spdy-session.ts'
import { textOfResponse, type DirectTransport } from '../client/direct-transport.ts'

export interface ContainerOptions {
  /** `default` when omitted. */
  readonly namespace?: string
  /** Required only for pods with several containers. */
  readonly container?: string
}

export interface ExecOutput {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

const connectionBytesMax = 64 * 1024

export async function podExec(
  transport: DirectTransport,
  name: string,
  command: readonly string[],
  { namespace = 'default', container }: ContainerOptions,
  context: Context,
): Promise<ExecOutput> {
  const query = new URLSearchParams({ stdout: 'true', stderr: 'true' })
  if (container !== undefined) query.set('container', container)
  for (const word of command) query.append('command', word)
  const place = { kind: pod, namespace, name, subresource: 'exec' }
  const headers = spdyUpgradeHeaders(commandProtocol)
  const answer = await transport.stream(place, query, headers, context)
  if (typeof answer === 'string' || answer.onUpgrade === undefined) {
    const text = typeof answer === 'string' ? answer : await textOfResponse(answer)
    throw new StatusError(500, 'InternalError', `unable to upgrade connection: ${text}`)
  }
  return overSpdy(answer.onUpgrade)
}

async function overSpdy(takeOver: NonNullable<WireResponse['onUpgrade']>): Promise<ExecOutput> {
  const [ours, theirs] = byteStreamPair(connectionBytesMax)
  const session = new SpdySession(ours, 'client', nodeInflateRaw)
  const served = Promise.allSettled([session.run(), takeOver(theirs)])
  try {
    const streams = await openSpdyStreams(session, { tty: false, stdin: false, stdout: true, stderr: true })
    const [stdout, stderr, status] = await Promise.all(
      (['stdout', 'stderr', 'error'] as const).map((stream) => streamText(streams, stream)),
    )
    return { exitCode: exitCodeOf(status ?? ''), stdout: stdout ?? '', stderr: stderr ?? '' }
  } finally {
    await session.close()
    await served
  }
}

async function streamText(streams: CommandStreams, name: 'stdout' | 'stderr' | 'error'): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of streams.get(name)?.pieces ?? []) text += decoder.decode(piece, { stream: true })
  return text
}

/** The exit code from the Status on the error stream. Throws when the command could not be run. */
function exitCodeOf(text: string): number {
  const status = JSON.parse(text) as {
    readonly status?: string
    readonly message?: string
    readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] }
  }
  if (status.status === 'Success') return 0
  const code = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
  if (code === undefined) throw StatusError.fromStatus(status, 500)
  return Number(code)
}
