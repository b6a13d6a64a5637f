import type { WireResponse } from './listener.ts'

/** Releases the body of a response that will not be sent. */
export function discardBody({ body }: Pick<WireResponse, 'body'>): void {
  if (typeof body === 'string' || body instanceof Uint8Array) return
  if ('take' in body) body.close()
  else void body[Symbol.asyncIterator]().return?.()
}
