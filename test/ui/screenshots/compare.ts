// Compares screenshots at a reduced resolution, so that the smoothing of fonts does not matter, but layout and colors do.
import type { Image } from './png.ts'

/** The sides of a cell; 1280, 390 and 800 pixels are whole numbers of cells. */
export const cellPx = 5
/** A cell differs if the mean of one of its channels differs by more than this. */
const channelMax = 16
/** Images with more differing cells than this share are different. */
export const differingShareMax = 0.01

/** The mean color of each cell. */
export function reduced({ width, height, rgb }: Image, sidePx = cellPx): Image {
  const columns = Math.floor(width / sidePx)
  const rows = Math.floor(height / sidePx)
  const means = new Uint8Array(columns * rows * 3)
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      for (let channel = 0; channel < 3; channel++) {
        let sum = 0
        for (let y = row * sidePx; y < (row + 1) * sidePx; y++)
          for (let x = column * sidePx; x < (column + 1) * sidePx; x++) sum += rgb[(y * width + x) * 3 + channel] ?? 0
        means[(row * columns + column) * 3 + channel] = Math.round(sum / sidePx ** 2)
      }
  return { width: columns, height: rows, rgb: means }
}

/** The share of cells that differ, from 0 to 1. Images of different sizes differ everywhere. */
export function differingShare(a: Image, b: Image): number {
  if (a.width !== b.width || a.height !== b.height) return 1
  const cells = a.width * a.height
  let differing = 0
  for (let cell = 0; cell < cells; cell++) {
    const isDifferent = [0, 1, 2].some(
      (channel) => Math.abs((a.rgb[cell * 3 + channel] ?? 0) - (b.rgb[cell * 3 + channel] ?? 0)) > channelMax,
    )
    if (isDifferent) differing++
  }
  return differing / cells
}
