// A gRPC server as the handler of a listener: the routes of its methods, unary and streaming.
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import { BodyTooLarge, type StreamedRequest, type WireResponse } from '../../platform/http/listener.ts'
import { PieceQueue } from '../../platform/http/piece-queue.ts'
import { decodeProto } from '../protobuf/decode-proto.ts'
import { encodeProto } from '../protobuf/encode-proto.ts'
import type { Message, Proto, ProtoInput } from '../protobuf/proto-message.ts'
import type { GrpcMethod } from './grpc-channel.ts'
import { frame, FrameError, FrameReader } from './grpc-frame.ts'
import { grpcCodes, GrpcError, type GrpcCode } from './grpc-status.ts'

export interface GrpcRoute {
  readonly path: string
  handle(request: StreamedRequest, messageBytesMax: number): MaybePromise<WireResponse>
}

export interface UnaryCall {
  /** Aborted when the client has left. */
  readonly signal: AbortSignal
  /** The size of the request message. */
  readonly bytes: number
}

/** A call with streams in both directions; each may have one message. */
export interface ServedStream<Q extends Message, A extends Message> {
  /** Throws GrpcError for a message that cannot be read, and an error when the client has left. */
  readonly messages: AsyncIterable<Proto<Q>>
  send(message: ProtoInput<A>): void
  /** The bytes that the client has not taken yet. The sender bounds them. */
  readonly waitingBytes: number
  /** The client has taken everything that waited. */
  onRoom(listener: () => void): void
  /** Aborted when the client has left. */
  readonly signal: AbortSignal
}

/** The largest number of bytes that one client may send in one call with streams. */
const streamBytesMax = Number.MAX_SAFE_INTEGER
const headBytes = 5

/** Serves the calls of these routes. Without a route a call is UNIMPLEMENTED. */
export function grpcHandler(
  routes: readonly GrpcRoute[],
  messageBytesMax: number,
): (request: StreamedRequest) => MaybePromise<WireResponse> {
  const byPath = new Map(routes.map((route) => [route.path, route]))
  const services = new Set(routes.map(({ path }) => serviceOf(path)))
  return (request) => {
    const route = byPath.get(request.target)
    if (route !== undefined) return route.handle(request, messageBytesMax)
    const [, service = '', name = ''] = request.target.split('/')
    const isKnown = services.has(serviceOf(request.target))
    const details = isKnown ? `unknown method ${name} for service ${service}` : `unknown service ${service}`
    return grpcFailure(new GrpcError(request.target, 'UNIMPLEMENTED', details))
  }
}

/** Other requests may come to the same port. */
export const isGrpc = ({ method, headers }: StreamedRequest): boolean =>
  method === 'POST' && headers['content-type']?.startsWith('application/grpc') === true

export const unaryRoute = <Q extends Message, A extends Message>(
  { path, request: requestType, response: responseType }: GrpcMethod<Q, A>,
  answer: (request: Proto<Q>, call: UnaryCall) => MaybePromise<ProtoInput<A>>,
): GrpcRoute => ({
  path,
  async handle(request, messageBytesMax) {
    try {
      const body = await wholeBody(request, messageBytesMax + headBytes)
      const [message, ...surplus] = new FrameReader(messageBytesMax).push(body)
      if (message === undefined || surplus.length > 0)
        throw new GrpcError(path, 'INTERNAL', 'a unary call has one request message')
      const response = await answer(decoded(requestType, message), { signal: request.signal, bytes: message.length })
      return success(frame(encodeProto(responseType, response)))
    } catch (error) {
      return grpcFailure(error)
    }
  },
})

/** `serve` ends the call with its result. */
export const streamRoute = <Q extends Message, A extends Message>(
  { path, request: requestType, response: responseType }: GrpcMethod<Q, A>,
  serve: (stream: ServedStream<Q, A>) => Promise<void>,
): GrpcRoute => ({
  path,
  handle(request, messageBytesMax) {
    let onRoom = (): void => {}
    let status = statusOf()
    const queue = new PieceQueue({ onRoom: () => onRoom() })
    const stream: ServedStream<Q, A> = {
      messages: messagesOf(requestType, request, messageBytesMax),
      send: (message) => queue.push(frame(encodeProto(responseType, message))),
      get waitingBytes() {
        return queue.waitingBytes
      },
      onRoom: (listener) => (onRoom = listener),
      signal: request.signal,
    }
    serve(stream)
      .catch((error: unknown) => (status = statusOf(error)))
      .finally(() => queue.end())
    return { ...head, body: queue, trailers: () => status }
  },
})

async function wholeBody(request: StreamedRequest, bytesMax: number): Promise<Uint8Array> {
  try {
    return await request.body(bytesMax)
  } catch (error) {
    if (!(error instanceof BodyTooLarge)) throw error
    throw new GrpcError(request.target, 'RESOURCE_EXHAUSTED', `grpc: received message larger than max (${bytesMax})`)
  }
}

async function* messagesOf<Q extends Message>(
  type: Q,
  request: StreamedRequest,
  messageBytesMax: number,
): AsyncGenerator<Proto<Q>, void> {
  const reader = new FrameReader(messageBytesMax)
  // Not `for await`: leaving the loop would reset the HTTP/2 stream, which still has to carry the status of the call.
  const pieces = request.bodyPieces(streamBytesMax)[Symbol.asyncIterator]()
  for (;;) {
    const { value: piece, done } = await pieces.next()
    if (done === true) return
    for (const message of reader.push(piece)) yield decoded(type, message)
  }
}

function decoded<Q extends Message>(type: Q, message: Uint8Array): Proto<Q> {
  try {
    return decodeProto(type, message)
  } catch (error) {
    throw new GrpcError(type.name, 'INTERNAL', `the request cannot be read: ${(error as Error).message}`)
  }
}

const head = { status: 200, headers: { 'content-type': 'application/grpc' }, keepsConnection: true } as const

const success = (body: Uint8Array): WireResponse => ({ ...head, body, trailers: () => statusOf() })

/** The response of a call that fails with this error. */
export const grpcFailure = (error: unknown): WireResponse => ({
  ...head,
  body: '',
  trailers: () => statusOf(error),
})

function statusOf(error?: unknown): Record<string, string> {
  if (error === undefined) return { 'grpc-status': '0' }
  const { code, details } = error instanceof GrpcError ? error : unexpected(error as Error)
  return { 'grpc-status': String(grpcCodes.indexOf(code)), 'grpc-message': percentEncoded(details) }
}

function unexpected(error: Error): { code: GrpcCode; details: string } {
  if (error instanceof FrameError) return { code: error.code, details: error.message }
  return { code: 'UNKNOWN', details: error.message }
}

const serviceOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

/** Printable ASCII stays as it is. */
const percentEncoded = (text: string): string => text.toWellFormed().replace(/[^ -$&-~]+/g, encodeURIComponent)
