// Polyfills the base64 and hex methods of Uint8Array, which Node.js 24 does not have.
import { withoutTrailing } from '../../base/text/without-trailing.ts'

interface Base64Options {
  readonly alphabet?: 'base64' | 'base64url'
  readonly omitPadding?: boolean
}

const isBase64 = { base64: /^[A-Za-z\d+/]*={0,2}$/, base64url: /^[\w-]*={0,2}$/ }

const toBase64 = (bytes: Uint8Array, { alphabet = 'base64', omitPadding = false }: Base64Options = {}): string => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(alphabet)
  if (alphabet === 'base64') return omitPadding ? withoutTrailing(text, '=') : text
  return omitPadding ? text : text.padEnd(Math.ceil(text.length / 4) * 4, '=')
}

function fromBase64(text: string, { alphabet = 'base64' }: Base64Options = {}): Uint8Array {
  const dense = text.replaceAll(/[\t\n\f\r ]/g, '')
  const digits = withoutTrailing(dense, '=').length
  const isPadded = digits !== dense.length
  if (!isBase64[alphabet].test(dense)) throw new SyntaxError('the text is not base64')
  if (digits % 4 === 1 || (isPadded && dense.length % 4 !== 0)) throw new SyntaxError('the base64 text is cut off')
  return new Uint8Array(Buffer.from(dense, alphabet))
}

const toHex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')

function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0 || !/^[\da-f]*$/i.test(text)) throw new SyntaxError('the text is not hex')
  return new Uint8Array(Buffer.from(text, 'hex'))
}

/** Adds the methods that are missing. */
export function polyfillUint8Array(type: { readonly prototype: object } = Uint8Array): void {
  const add = (holder: object, name: string, value: unknown): void => {
    if (!Object.hasOwn(holder, name)) Object.defineProperty(holder, name, { value, writable: true, configurable: true })
  }
  add(type, 'fromBase64', fromBase64)
  add(type, 'fromHex', fromHex)
  add(type.prototype, 'toBase64', function (this: Uint8Array, options?: Base64Options) {
    return toBase64(this, options)
  })
  add(type.prototype, 'toHex', function (this: Uint8Array) {
    return toHex(this)
  })
}
