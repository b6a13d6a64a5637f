// PNG files as Chromium writes them: 8 bits per channel, RGB or RGBA, not interlaced. Other files are rejected. The alpha
// channel is left out, because screenshots of a page are opaque.
import { equal } from 'node:assert/strict'
import { crc32, deflateSync, inflateSync } from 'node:zlib'

export interface Image {
  readonly width: number
  readonly height: number
  /** Three bytes per pixel, row by row. */
  readonly rgb: Uint8Array
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Channels by color type. */
const channelsOf: Readonly<Record<number, number>> = { 2: 3, 6: 4 }
const bitDepth = 8
const rgbType = 2

export function decodePng(file: Buffer): Image {
  equal(file.subarray(0, signature.length).equals(signature), true, 'not a PNG file')
  const chunks = chunksOf(file)
  const header = chunks.find(({ type }) => type === 'IHDR')?.data ?? Buffer.alloc(13)
  const width = header.readUInt32BE(0)
  const height = header.readUInt32BE(4)
  const channels = channelsOf[header[9] ?? 0]
  if (channels === undefined || header[8] !== bitDepth || header[12] !== 0)
    throw new Error('the PNG is not in RGB or RGBA with 8 bits, or is interlaced')
  const data = inflateSync(
    Buffer.concat(chunks.flatMap(({ type, data: content }) => (type === 'IDAT' ? [content] : []))),
  )
  const bytes = unfiltered(data, { stride: width * channels, height, channels })
  const rgb = new Uint8Array(width * height * 3)
  for (let pixel = 0; pixel < width * height; pixel++)
    for (let channel = 0; channel < 3; channel++) rgb[pixel * 3 + channel] = bytes[pixel * channels + channel] ?? 0
  return { width, height, rgb }
}

function chunksOf(file: Buffer): { type: string; data: Buffer }[] {
  const chunks = []
  for (let at = signature.length; at + 12 <= file.length;) {
    const length = file.readUInt32BE(at)
    chunks.push({ type: file.toString('latin1', at + 4, at + 8), data: file.subarray(at + 8, at + 8 + length) })
    at += 12 + length
  }
  return chunks
}

interface Rows {
  readonly stride: number
  readonly height: number
  readonly channels: number
}

/** Each row begins with its filter: its bytes are differences to the bytes on the left, above, or both. */
function unfiltered(data: Buffer, { stride, height, channels }: Rows): Uint8Array {
  const bytes = new Uint8Array(stride * height)
  for (let row = 0; row < height; row++) {
    const filter = data[row * (stride + 1)]
    for (let column = 0; column < stride; column++) {
      const at = row * stride + column
      const left = column < channels ? 0 : (bytes[at - channels] ?? 0)
      const above = row === 0 ? 0 : (bytes[at - stride] ?? 0)
      const corner = column < channels || row === 0 ? 0 : (bytes[at - stride - channels] ?? 0)
      bytes[at] = (data[row * (stride + 1) + 1 + column] ?? 0) + predicted(filter, left, above, corner)
    }
  }
  return bytes
}

function predicted(filter: number | undefined, left: number, above: number, corner: number): number {
  switch (filter) {
    case 0:
      return 0
    case 1:
      return left
    case 2:
      return above
    case 3:
      return (left + above) >> 1
    case 4:
      return paeth(left, above, corner)
    default:
      throw new Error(`unknown filter of a PNG row: ${filter}`)
  }
}

/** The neighbour that is nearest to left + above - corner. */
function paeth(left: number, above: number, corner: number): number {
  const estimate = left + above - corner
  const a = Math.abs(estimate - left)
  const b = Math.abs(estimate - above)
  const c = Math.abs(estimate - corner)
  return a <= b && a <= c ? left : b <= c ? above : corner
}

/** Rows are stored as differences to the row above, which compresses well. */
export function encodePng({ width, height, rgb }: Image): Buffer {
  const stride = width * 3
  const data = Buffer.alloc((stride + 1) * height)
  for (let row = 0; row < height; row++) {
    data[row * (stride + 1)] = 2
    for (let column = 0; column < stride; column++) {
      const at = row * stride + column
      data[row * (stride + 1) + 1 + column] = (rgb[at] ?? 0) - (row === 0 ? 0 : (rgb[at - stride] ?? 0))
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([bitDepth, rgbType], 8)
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(data, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}
