import type { WireResponse } from './listener.ts'

/** Lets go of the body of a response that nobody will read. */
export function discardBody({ body }: Pick<WireResponse, 'body'>): void {
  if (typeof body === 'string' || body instanceof Uint8Array) return
  if ('take' in body) body.close()
  else void body[Symbol.asyncIterator]().return?.()
}
