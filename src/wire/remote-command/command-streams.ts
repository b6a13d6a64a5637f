// The streams of a remote command (exec and attach): their names in Kubernetes, how each protocol transports them, and
// how those of a client are joined with those of a runtime.
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { copyStream } from '../byte-pipe.ts'
import type { SpdySession, SpdyStream } from '../spdy/spdy-session.ts'
import type { WebSocketChannels } from '../websocket/websocket-channels.ts'

/** In the order of their channels on a WebSocket. */
const streamNames = ['stdin', 'stdout', 'stderr', 'error', 'resize'] as const
export type CommandStreamName = (typeof streamNames)[number]

/** `error` carries the exit status, as a Status object. */
export type CommandStreams = ReadonlyMap<CommandStreamName, ByteStream>

export interface CommandStreamOptions {
  readonly tty: boolean
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
}

/** The streams of a command with these options. Peers that disagree about them wait for each other forever. */
export const streamNamesOf = (options: CommandStreamOptions): readonly CommandStreamName[] =>
  streamNames.filter((name) => (name === 'error' ? true : name === 'resize' ? options.tty : options[name]))

/** The connection that transports the streams. run() resolves when it ends. */
export interface StreamConnection {
  run(): Promise<void>
  close(): Promise<void>
}

const typeHeader = 'streamtype'

/** Opens the streams as a client. */
export async function openSpdyStreams(session: SpdySession, options: CommandStreamOptions): Promise<CommandStreams> {
  const opened = new Map<CommandStreamName, ByteStream>()
  for (const name of streamNamesOf(options)) opened.set(name, await session.open({ [typeHeader]: name }))
  return opened
}

/** Waits, as a server, until the client has opened all streams. */
export async function acceptSpdyStreams(session: SpdySession, options: CommandStreamOptions): Promise<CommandStreams> {
  const missing = new Set<string>(streamNamesOf(options))
  const accepted = new Map<CommandStreamName, SpdyStream>()
  const opened = session.incoming[Symbol.asyncIterator]()
  while (missing.size > 0) {
    const { value: stream } = await opened.next()
    if (stream === undefined) throw new Error(`the client did not open its streams ${[...missing].join(', ')}`)
    const name = stream.headers[typeHeader] ?? ''
    if (missing.delete(name)) accepted.set(name as CommandStreamName, stream)
    else stream.destroy()
  }
  return accepted
}

/** Call before the channels run. `withStatus`: whether the client expects the exit status as a Status object. */
export const webSocketStreams = (
  channels: WebSocketChannels,
  options: CommandStreamOptions,
  withStatus: boolean,
): CommandStreams =>
  new Map(
    streamNamesOf(options).map((name) => {
      const channel = channels.channel(streamNames.indexOf(name))
      return [name, name === 'error' && !withStatus ? messagesOnly(channel) : channel]
    }),
  )

const statusCharactersMax = 64 * 1024

/** An error channel that writes only the message of a Status, and nothing for success. */
function messagesOnly(channel: ByteStream): ByteStream {
  const decoder = new TextDecoder()
  let text = ''
  return {
    ...channel,
    async write(piece) {
      if (text.length < statusCharactersMax) text += decoder.decode(piece, { stream: true })
      const message = failureMessageIn(text)
      if (message === undefined) return
      text = ''
      if (message !== '') await channel.write(new TextEncoder().encode(message))
    },
  }
}

/** The message of a Status; '' for success; undefined when the text is incomplete. */
function failureMessageIn(text: string): string | undefined {
  try {
    const { status, message } = JSON.parse(text) as { status?: string; message?: string }
    return status === 'Success' ? '' : (message ?? '')
  } catch {
    return undefined
  }
}

/**
 * Copies between a client and a runtime until the command has ended or either side disconnects, then closes both
 * connections: on a WebSocket, closing is how a client learns that its streams have ended.
 */
export async function joinCommandStreams(
  client: { readonly connection: StreamConnection; readonly streams: CommandStreams; readonly running: Promise<void> },
  runtime: { readonly connection: StreamConnection; readonly streams: CommandStreams; readonly running: Promise<void> },
): Promise<void> {
  const pass = (name: CommandStreamName, from: CommandStreams, to: CommandStreams): Promise<void> => {
    const source = from.get(name)
    const target = to.get(name)
    return source === undefined || target === undefined ? Promise.resolve() : copyStream(source.pieces, target)
  }
  const closeRuntime = () => runtime.connection.close()
  const inputs = Promise.allSettled(
    (['stdin', 'resize'] as const).map((name) => pass(name, client.streams, runtime.streams)),
  )
  const outputs = Promise.allSettled(
    (['stdout', 'stderr', 'error'] as const).map((name) => pass(name, runtime.streams, client.streams)),
  )
  const clientGone = client.running.then(closeRuntime, closeRuntime)
  await outputs
  await client.connection.close()
  await runtime.connection.close()
  await Promise.allSettled([inputs, clientGone, runtime.running])
}

/** The exit status as the error stream carries it. */
export const exitStatus = (exitCode: number): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify(
      exitCode === 0
        ? { metadata: {}, status: 'Success' }
        : {
            metadata: {},
            status: 'Failure',
            message: `command terminated with non-zero exit code: exit code ${exitCode}`,
            reason: 'NonZeroExitCode',
            details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
          },
    ),
  )

export const failureStatus = (message: string): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify({ metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 }),
  )
