// A ByteStream as a stream of Node.js.
import { Duplex } from 'node:stream'
import type { ByteStream } from '../../http/byte-stream.ts'

/**
 * Errors of writes are ignored, because the peer may respond and close its side before it has read everything; the reader
 * observes the end.
 */
export function duplexOn(stream: ByteStream): Duplex {
  const pieces = stream.pieces[Symbol.asyncIterator]()
  const write = async (piece: Uint8Array, done: () => void) => {
    await stream.write(piece).catch(() => {})
    done()
  }
  return new Duplex({
    read() {
      pieces.next().then(
        ({ done, value }) => this.push(done === true ? null : value),
        (error: Error) => this.destroy(error),
      )
    },
    write: (piece: Buffer, _encoding, done) => void write(piece, done),
    writev: (all, done) => void write(Buffer.concat(all.map(({ chunk }) => chunk as Buffer)), done),
    final(done) {
      stream.end()
      done()
    },
    destroy(error, done) {
      stream.destroy()
      done(error)
    },
  })
}
