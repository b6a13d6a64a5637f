// Where the lines of the map run. The boxes are in columns with gaps between them; a line leaves its box into a gap and runs
// only in gaps and below all boxes, so it crosses no box.

export interface Place {
  readonly x: number
  readonly y: number
  readonly widthPx: number
  readonly heightPx: number
  readonly column: number
}

export type Point = readonly [x: number, y: number]

/** Half of the gap between two columns; vertical parts of lines run in the middle of it. */
export const gapHalfPx = 60
/** The distance of a line's end from the corners of a tall box. */
const cornerPx = 10

/** The corners of the line between two boxes. `floorY` is below all boxes. */
export function routeBetween(from: Place, to: Place, floorY: number): Point[] {
  if (from.column > to.column) return routeBetween(to, from, floorY).toReversed()
  const start = middleY(from, to)
  const end = middleY(to, from)
  const right = from.x + from.widthPx
  if (from.column + 1 === to.column)
    return [
      [right, start],
      [to.x, end],
    ]
  if (from.column === to.column) return besides(from, to)
  const downX = right + gapHalfPx / 2
  const upX = to.x - gapHalfPx / 2
  return [
    [right, start],
    [downX, start],
    [downX, floorY],
    [upX, floorY],
    [upX, end],
    [to.x, end],
  ]
}

/** The height at which a line leaves a box: straight across if the other box has that height too. */
function middleY({ y, heightPx }: Place, other: Place): number {
  const own = y + heightPx / 2
  const others = other.y + other.heightPx / 2
  const isTall = heightPx > other.heightPx
  return isTall ? Math.min(y + heightPx - cornerPx, Math.max(y + cornerPx, others)) : own
}

/** Boxes of a column: neighbours are connected directly, others through the gap. */
function besides(from: Place, to: Place): Point[] {
  const [upper, lower] = from.y < to.y ? [from, to] : [to, from]
  const x = upper.x + Math.min(upper.widthPx, lower.widthPx) / 2
  if (lower.y - upper.y - upper.heightPx < gapHalfPx / 2)
    return [
      [x, upper.y + upper.heightPx],
      [x, lower.y],
    ]
  const outX = Math.max(upper.x + upper.widthPx, lower.x + lower.widthPx) + gapHalfPx / 3
  const ends = [upper, lower].map((place): Point => [place.x + place.widthPx, place.y + place.heightPx / 2])
  const [[x1, y1], [x2, y2]] = ends as [Point, Point]
  return [
    [x1, y1],
    [outX, y1],
    [outX, y2],
    [x2, y2],
  ]
}

/** The way along a line, with the distance of each corner from its start, so that a place on it is found quickly. */
export interface Route {
  readonly points: readonly Point[]
  readonly distances: readonly number[]
}

export function routeAlong(points: readonly Point[]): Route {
  const distances = [0]
  for (const [at, [x, y]] of points.slice(1).entries()) {
    const [beforeX, beforeY] = points[at] as Point
    distances.push((distances[at] ?? 0) + Math.hypot(x - beforeX, y - beforeY))
  }
  return { points, distances }
}

/** The point at a part of the way, from 0 to 1. */
export function pointAt({ points, distances }: Route, part: number): Point {
  const distance = part * (distances.at(-1) ?? 0)
  const at = distances.findIndex((each, index) => index > 0 && each >= distance && each > (distances[index - 1] ?? 0))
  const start = points[at - 1]
  const end = points[at]
  if (start === undefined || end === undefined) return points.at(-1) ?? [0, 0]
  const before = distances[at - 1] ?? 0
  const share = (distance - before) / ((distances[at] ?? 0) - before)
  return [start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share]
}

export const pathText = (points: readonly Point[]): string =>
  points.map(([x, y], at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`).join('')
