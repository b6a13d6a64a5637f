import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { cellPx, differingShare, differingShareMax, reduced } from './compare.ts'
import { decodePng, encodePng, type Image } from './png.ts'

const width = 100
const height = 100

function drawn(color: (x: number, y: number) => readonly [number, number, number]): Image {
  const rgb = new Uint8Array(width * height * 3)
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) rgb.set(color(x, y), (y * width + x) * 3)
  return { width, height, rgb }
}

const panel = (left: number, gray = 0): Image =>
  drawn((x, y) => (x >= left && x < left + 40 && y > 20 && y < 60 ? [gray, gray, gray] : [255, 255, 255]))

suite('PNG', () => {
  test('an image is the same after encoding and decoding', () => {
    const image = drawn((x, y) => [x, y, (x * y) % 256])
    deepEqual(decodePng(encodePng(image)), image)
  })

  // Two pixels in two rows, so that every filter has neighbours.
  for (const [filter, bytes] of [
    [0, [10, 20, 30, 40, 50, 60]],
    [1, [10, 20, 30, 30, 30, 30]],
    [2, [9, 18, 27, 36, 45, 54]],
    [3, [10, 19, 29, 33, 38, 42]],
    [4, [9, 18, 27, 30, 30, 30]],
  ] as const)
    test(`filter ${filter} of a row`, () => {
      const first = [0, 1, 2, 3, 4, 5, 6]
      const file = withData(encodePng({ width: 2, height: 2, rgb: new Uint8Array(12) }), [...first, filter, ...bytes])
      deepEqual([...decodePng(file).rgb], [...first.slice(1), 10, 20, 30, 40, 50, 60])
    })

  test('other files are rejected', () => {
    throws(() => decodePng(Buffer.from('GIF89a..')), /not a PNG file/)
    const gray = encodePng(panel(10))
    gray[25] = 0
    throws(() => decodePng(gray), /not in RGB or RGBA/)
  })
})

/** The file with other compressed rows. */
function withData(file: Buffer, rows: readonly number[]): Buffer {
  const at = file.indexOf('IDAT') - 4
  const data = deflateSync(Buffer.from(rows))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  return Buffer.concat([file.subarray(0, at), length, Buffer.from('IDAT'), data, Buffer.alloc(4)])
}

suite('comparison', () => {
  test('a cell has the mean color of its pixels', () => {
    const { width: columns, rgb } = reduced(drawn((x) => (x < cellPx - 1 ? [250, 100, 0] : [0, 0, 0])))
    equal(columns, width / cellPx)
    deepEqual([...rgb.subarray(0, 6)], [200, 80, 0, 0, 0, 0])
  })

  for (const [name, other, isSame] of [
    ['the same image', panel(10), true],
    ['slightly other colors, as of other smoothing', panel(10, 12), true],
    ['a panel that has moved by five pixels', panel(15), false],
    ['a panel of another color', panel(10, 40), false],
    ['an image of another size', { width: 50, height: 200, rgb: panel(10).rgb }, false],
  ] as const)
    test(name, () => {
      const share = differingShare(reduced(panel(10)), reduced(other))
      ok(share <= differingShareMax === isSame, `${share}`)
    })
})
