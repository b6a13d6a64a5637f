// Messages that move along the lines of the map. They are drawn on a canvas above the map, once per frame while some are moving:
// elements for them would make the browser compute styles and the layout in every frame.
import { noChange } from 'lit'
import { AsyncDirective } from 'lit/async-directive.js'
import { directive, type ElementPart } from 'lit/directive.js'
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import { hasFailed } from '../../../flows/diagram-colors.ts'
import { pointAt, type Route } from '../model/line-routes.ts'
import type { Topology } from '../model/topology.ts'
import type { App } from '../state/app.ts'
import type { Arrival } from '../state/arrivals.ts'

/** How long a message moves along its line. */
export const movingMs = 900
const radiusPx = 4

/** The name of the color of a message. */
type Ink = '--failure' | `--${Arrival['event']['arrow']}`

interface Way {
  readonly route: Route
  readonly isReversed: boolean
  readonly ink: Ink
}

class MovingMessages extends AsyncDirective {
  #topology: Topology | undefined
  /** Of the messages that are moving; undefined if the map has no line for one. */
  #ways = new WeakMap<Arrival, Way | 'none'>()
  #routes: ReadonlyMap<string, { readonly route: Route; readonly from: string }> = new Map()
  readonly #colors = new Map<string, string>()
  #isMoving = false
  #isRemoved = false

  render(_app: App, _topology: Topology): typeof noChange {
    return noChange
  }

  override update({ element }: ElementPart, [app, topology]: [App, Topology]): typeof noChange {
    const canvas = element as HTMLCanvasElement
    this.#topology = topology
    this.#routes = new Map(topology.lines.map(({ id, route, from }) => [id, { route, from: from.id }]))
    this.#ways = new WeakMap()
    resize(canvas, topology)
    if (!this.#isMoving && !matchMedia('(prefers-reduced-motion: reduce)').matches) this.#move(app, canvas)
    return noChange
  }

  override disconnected(): void {
    this.#isRemoved = true
  }

  override reconnected(): void {
    this.#isRemoved = false
  }

  #move(app: App, canvas: HTMLCanvasElement): void {
    const nowMs = app.nowMs()
    const moving = this.#isRemoved ? [] : app.arrivals.since(nowMs - movingMs)
    this.#isMoving = moving.length > 0
    const dots = Map.groupBy(
      moving.flatMap((arrival) => {
        const way = this.#wayOf(arrival)
        return way === 'none' ? [] : { way, part: Math.min(1, (nowMs - arrival.atMs) / movingMs) }
      }),
      ({ way }) => way.ink,
    )
    const context = canvas.getContext('2d')
    if (context === null) return
    context.clearRect(0, 0, canvas.width, canvas.height)
    // One path for all messages of a color.
    for (const [ink, ofColor] of dots) {
      context.beginPath()
      for (const { way, part } of ofColor) {
        const [x, y] = pointAt(way.route, way.isReversed ? 1 - part : part)
        context.moveTo(x + radiusPx, y)
        context.arc(x, y, radiusPx, 0, 2 * Math.PI)
      }
      context.fillStyle = this.#colorOf(ink, canvas)
      context.fill()
    }
    if (this.#isMoving) requestAnimationFrame(() => this.#move(app, canvas))
  }

  #wayOf(arrival: Arrival): Way | 'none' {
    const known = this.#ways.get(arrival)
    if (known !== undefined) return known
    const { event } = arrival
    const [from, to] = [event.from, event.to].map((name) => this.#topology?.boxIdOf(name) ?? name) as [string, string]
    const line = this.#routes.get(from < to ? `${from}>${to}` : `${to}>${from}`)
    const ink: Ink = hasFailed(event) ? '--failure' : `--${event.arrow}`
    const way = line === undefined ? 'none' : { route: line.route, isReversed: line.from !== from, ink }
    this.#ways.set(arrival, way)
    return way
  }

  /** The colors of the theme are read once, because reading one makes the browser compute styles. */
  #colorOf(ink: Ink, canvas: HTMLElement): string {
    const isDark = matchMedia('(prefers-color-scheme: dark)').matches
    return getOrInsert(this.#colors, `${ink} ${isDark}`, () => {
      // The value of a custom property names the colors of both themes; a computed color is one of them.
      canvas.style.color = `var(${ink})`
      return getComputedStyle(canvas).color
    })
  }
}

/** The canvas has the pixels of the screen. Setting its size clears it. */
function resize(canvas: HTMLCanvasElement, { widthPx, heightPx }: Topology): void {
  const ratio = globalThis.devicePixelRatio
  const width = Math.round(widthPx * ratio)
  const height = Math.round(heightPx * ratio)
  if (canvas.width === width && canvas.height === height) return
  canvas.width = width
  canvas.height = height
  canvas.style.width = `${widthPx}px`
  canvas.style.height = `${heightPx}px`
  canvas.getContext('2d')?.scale(ratio, ratio)
}

export const movingMessages = directive(MovingMessages)
