// Which element of the map an arrow key leads to.
import type { Point } from './line-routes.ts'

const directions = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
} as const

export const isArrowKey = (key: string): key is keyof typeof directions => Object.hasOwn(directions, key)

/** The nearest element in a direction. A distance to the side counts three times. */
export function nearest<T>(
  items: readonly { readonly item: T; readonly at: Point }[],
  [x, y]: Point,
  key: keyof typeof directions,
): T | undefined {
  const [dx, dy] = directions[key]
  let best: { readonly item: T; readonly distance: number } | undefined
  for (const { item, at } of items) {
    const ahead = (at[0] - x) * dx + (at[1] - y) * dy
    const aside = Math.abs((at[0] - x) * dy) + Math.abs((at[1] - y) * dx)
    const distance = ahead + aside * 3
    if (ahead > 0.5 && (best === undefined || distance < best.distance)) best = { item, distance }
  }
  return best?.item
}
