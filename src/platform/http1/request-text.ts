// The head of a request as a client or proxy sends it, as text in which every character is a byte.
import type { PooledRequest } from '../http/http-pool.ts'
import { headerLines } from './response-head.ts'

/** Methods whose requests are expected to have a body; without one, its length is sent. */
const bodyMethods = new Set(['PATCH', 'POST', 'PUT'])

const strangeInMethod = /[^!#$%&'*+\-.^_`|~\dA-Za-z]/
/** Blanks and control characters would end the target. */
const strangeInTarget = /[^\x21-\x7e\x80-\xff]/

/** Throws if the method or the target would change the meaning of the head. */
export function requestText({ method, target, headers, body }: PooledRequest): string {
  if (method === '' || strangeInMethod.test(method)) throw new TypeError('the method of the request is not valid')
  if (target === '' || strangeInTarget.test(target)) throw new TypeError('the target of the request is not valid')
  let text = `${method} ${target} HTTP/1.1\r\n`
  let hasLength = false
  for (const name in headers) {
    if (name === 'content-length') hasLength = true
    text += headerLines(name, headers[name]) // safe name: a key of the record
  }
  if (body !== undefined) return hasLength ? `${text}\r\n` : `${text}transfer-encoding: chunked\r\n\r\n`
  return hasLength || !bodyMethods.has(method) ? `${text}\r\n` : `${text}content-length: 0\r\n\r\n`
}
