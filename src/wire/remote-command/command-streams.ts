// The streams of a command that runs far away (exec and attach): what Kubernetes calls them, how each protocol carries
// them, and how those of a client are joined with those of a runtime.
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { copyStream } from '../byte-pipe.ts'
import type { SpdySession, SpdyStream } from '../spdy/spdy-session.ts'
import type { WebSocketChannels } from '../websocket/websocket-channels.ts'

/** In the order of their channels on a WebSocket. */
const streamNames = ['stdin', 'stdout', 'stderr', 'error', 'resize'] as const
export type CommandStreamName = (typeof streamNames)[number]

/** `error` carries how the command ended, as a Status. */
export type CommandStreams = ReadonlyMap<CommandStreamName, ByteStream>

export interface CommandStreamOptions {
  readonly tty: boolean
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
}

/** The streams that such a command has. Sides that disagree about them wait for each other for ever. */
export const streamNamesOf = (options: CommandStreamOptions): readonly CommandStreamName[] =>
  streamNames.filter((name) => (name === 'error' ? true : name === 'resize' ? options.tty : options[name]))

/** What carries the streams: it is run until it ends, and can be closed. */
export interface StreamConnection {
  run(): Promise<void>
  close(): Promise<void>
}

const typeHeader = 'streamtype'

/** Opens them, as a client. */
export async function openSpdyStreams(session: SpdySession, options: CommandStreamOptions): Promise<CommandStreams> {
  const opened = new Map<CommandStreamName, ByteStream>()
  for (const name of streamNamesOf(options)) opened.set(name, await session.open({ [typeHeader]: name }))
  return opened
}

/** Waits, as a server, until the client has opened them all. */
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

/** To be called before the channels are run. `withStatus`: whether the client reads how the command ended as a Status. */
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

/** An error channel that writes the message of a Status that has failed, and nothing of one that has not. */
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

/** The message of a Status; '' when it tells of success; undefined when there is more to come. */
function failureMessageIn(text: string): string | undefined {
  try {
    const { status, message } = JSON.parse(text) as { status?: string; message?: string }
    return status === 'Success' ? '' : (message ?? '')
  } catch {
    return undefined
  }
}

/**
 * Copies between a client and a runtime until the command has ended or either side is gone. Both carriers are closed
 * then: on a WebSocket that is how a client learns that its streams have ended.
 */
export async function joinCommandStreams(
  client: { readonly connection: StreamConnection; readonly streams: CommandStreams; readonly running: Promise<void> },
  runtime: { readonly connection: StreamConnection; readonly streams: CommandStreams; readonly running: Promise<void> },
): Promise<void> {
  const pass = (name: CommandStreamName, from: CommandStreams, to: CommandStreams): Promise<void> => {
    const [source, target] = [from.get(name), to.get(name)]
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

/** How a command ended, as the error stream says it. */
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
