import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { pathText, pointAt, routeAlong, routeBetween, type Place } from './line-routes.ts'

const box = (column: number, y: number, heightPx = 20): Place => ({ x: column * 200, y, widthPx: 80, heightPx, column })

const routes: [what: string, from: Place, to: Place, path: string][] = [
  ['columns beside each other', box(0, 0), box(1, 100), 'M80 10L200 110'],
  ['in the other direction', box(1, 100), box(0, 0), 'M200 110L80 10'],
  ['a tall box is left at the height of the other', box(0, 0, 300), box(1, 100), 'M80 110L200 110'],
  ['but not at its corner', box(0, 0, 300), box(1, 400), 'M80 290L200 410'],
  ['a column between them', box(0, 0), box(2, 100), 'M80 10L110 10L110 500L370 500L370 110L400 110'],
  ['neighbours of a column', box(0, 30), box(0, 0), 'M40 20L40 30'],
  ['others of a column', box(0, 0), box(0, 200), 'M80 10L100 10L100 210L80 210'],
]
for (const [what, from, to, path] of routes)
  test(`the line between boxes: ${what}`, () => equal(pathText(routeBetween(from, to, 500)), path))

test('points on a line are found by the part of the way', () => {
  const route = routeAlong([
    [0, 0],
    [10, 0],
    [10, 0],
    [10, 30],
  ])
  deepEqual(
    [0, 0.25, 0.5, 1].map((part) => pointAt(route, part)),
    [
      [0, 0],
      [10, 0],
      [10, 10],
      [10, 30],
    ],
  )
  deepEqual(pointAt(routeAlong([[5, 5]]), 0.5), [5, 5])
  deepEqual(pointAt(routeAlong([]), 0.5), [0, 0])
})
