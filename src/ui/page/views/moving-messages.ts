// Messages that move along the lines of the map. They are drawn apart from the page, once per frame while some are moving.
import { noChange } from 'lit'
import { AsyncDirective } from 'lit/async-directive.js'
import { directive, type ElementPart } from 'lit/directive.js'
import { hasFailed } from '../../../flows/diagram-colors.ts'
import { pointAt } from '../model/line-routes.ts'
import type { Line, Topology } from '../model/topology.ts'
import type { App } from '../state/app.ts'
import type { Arrival } from '../state/arrivals.ts'

/** How long a message moves along its line. */
export const movingMs = 900

const namespace = 'http://www.w3.org/2000/svg'

class MovingMessages extends AsyncDirective {
  #lines: ReadonlyMap<string, Line> = new Map()
  #boxIdOf: Topology['boxIdOf'] = (name) => name
  #isMoving = false
  #isRemoved = false

  render(_app: App, _topology: Topology): typeof noChange {
    return noChange
  }

  override update({ element }: ElementPart, [app, { lines, boxIdOf }]: [App, Topology]): typeof noChange {
    this.#lines = new Map(lines.map((line) => [line.id, line]))
    this.#boxIdOf = boxIdOf
    if (!this.#isMoving && !matchMedia('(prefers-reduced-motion: reduce)').matches) this.#move(app, element)
    return noChange
  }

  override disconnected(): void {
    this.#isRemoved = true
  }

  override reconnected(): void {
    this.#isRemoved = false
  }

  #move(app: App, group: Element): void {
    const nowMs = app.nowMs()
    const moving = this.#isRemoved ? [] : app.arrivals.since(nowMs - movingMs)
    this.#isMoving = moving.length > 0
    let drawn = 0
    for (const arrival of moving) {
      const place = this.#placeOf(arrival, nowMs)
      if (place === undefined) continue
      const dot = group.children[drawn++] ?? group.appendChild(newDot())
      dot.setAttribute('cx', place.x.toFixed(1))
      dot.setAttribute('cy', place.y.toFixed(1))
      dot.setAttribute('class', place.kind)
    }
    while (group.children.length > drawn) group.lastElementChild?.remove()
    if (this.#isMoving) requestAnimationFrame(() => this.#move(app, group))
  }

  #placeOf({ event, atMs }: Arrival, nowMs: number): { x: number; y: number; kind: string } | undefined {
    const [from, to] = [this.#boxIdOf(event.from), this.#boxIdOf(event.to)]
    const line = this.#lines.get(from < to ? `${from}>${to}` : `${to}>${from}`)
    if (line === undefined) return undefined
    const part = Math.min(1, (nowMs - atMs) / movingMs)
    const [x, y] = pointAt(line.points, line.from.id === from ? part : 1 - part)
    return { x, y, kind: hasFailed(event) ? 'dot failure' : `dot ${event.arrow}` }
  }
}

function newDot(): Element {
  const dot = document.createElementNS(namespace, 'circle')
  dot.setAttribute('r', '4')
  return dot
}

export const movingMessages = directive(MovingMessages)
