// The state of the page, with a source that is a record: views, time and arrivals, without a browser.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { FlowRecorder, type FlowEvent } from '../../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { locationOf } from '../model/permalink.ts'
import { RecordedSource, type RecordedRun } from '../source/recorded.ts'
import { RequestError } from '../source/requests.ts'
import type { Actions, Resource, Source } from '../source/source.ts'
import { App } from './app.ts'
import { Arrivals } from './arrivals.ts'
import { DrawPace } from './draw-pace.ts'
import { DiagramCache, diagramOf, shownMs } from './diagram.ts'
import { marksAfter, TimeControl } from './time-control.ts'

const web = { resource: 'pods', namespace: 'default', name: 'web' }
const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', isNamespaced: true, verbs: ['list'] }

function recordedEvents(): readonly FlowEvent[] {
  const clock = new VirtualClock()
  const flow = new FlowRecorder(clock)
  flow.finish(flow.record('call', 'kubectl', 'API Server', 'create pods', web), '201')
  flow.record('persist', 'API Server', 'Store', 'put pod', web, 7)
  flow.record('watch', 'API Server', 'scheduler', 'ADDED', web, 7)
  return [...flow.events()]
}

const object = { metadata: { name: 'web', namespace: 'default' } }
const run: RecordedRun = {
  title: 'a test',
  events: recordedEvents(),
  resources: [pods],
  tables: [['pods', { columns: [{ name: 'Name', priority: 0 }], rows: [{ cells: ['web'], object }] }]],
  history: [['pods', [['pods/default/web', [{ revision: 3, at: '', author: 'x', state: 'present' }]]]]],
  revisions: { oldest: 3, newest: 7, marks: [3, 5, 7].map((revision) => ({ revision, atMs: revision })) },
  explanations: [['pods/default/web', ['It waits.']]],
  decisions: [],
}

/** An application that has loaded its source; it draws at once. */
async function started(fragment = '', source: Source = new RecordedSource(run)) {
  const { starting, ...all } = starts(fragment, source)
  await starting
  await settled()
  return all
}

function starts(fragment: string, source: Source) {
  const fragments: { readonly fragment: string; readonly isNew: boolean }[] = []
  let drawn = 0
  const app = new App(fragment, {
    source,
    nowMs: () => 0,
    timeMs: () => 0,
    sleep: async () => undefined,
    nextFrame: (draw) => queueMicrotask(draw),
    draw: () => void drawn++,
    copy: () => Promise.resolve(),
    setFragment: (text, isNew) => fragments.push({ fragment: text, isNew }),
  })
  return { app, fragments, drawn: () => drawn, starting: app.start() }
}

/** The source responds at once, so everything is loaded after a few microtasks. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
}

suite('page', () => {
  test('the record and the time are loaded, and everything is drawn once per frame', async () => {
    const { app, drawn } = await started()
    equal(app.record.size, 3)
    deepEqual([app.time.range?.oldest, app.time.range?.newest], [3, 7])
    const before = drawn()
    app.changed()
    app.changed()
    await settled()
    equal(drawn(), before + 1)
    app.stop()
  })

  test('events that were recorded before are added after the first view, page by page', async () => {
    const events = recordedEvents().map((event, at) => ({ ...event, id: (at + 1) as FlowEvent['id'] }))
    const source = new RecordedSource({ ...run, events: events.slice(2) })
    const asked: (number | undefined)[] = []
    const pastEvents = async (before: number | undefined) => {
      asked.push(before)
      return before === undefined ? { events: events.slice(1), before: 2 } : { events: events.slice(0, 1), before: 0 }
    }
    const { app } = await started('', Object.assign(source, { pastEvents }))
    deepEqual(asked, [undefined, 2])
    deepEqual(
      [...app.record.values()].map(({ id }) => id),
      [1, 2, 3],
    )
    deepEqual([app.record.get(1)?.what, app.record.get(3)?.what, app.isLoadingPast], ['create pods', 'ADDED', false])
    app.stop()
  })

  test('the diagram is drawn before anything else is requested; other views need the resources', async () => {
    for (const [fragment, isWaiting] of [
      ['#flows', true],
      ['#objects', false],
    ] as const) {
      const requests: string[] = []
      const events = Promise.withResolvers<(events: readonly FlowEvent[], gap: boolean) => void>()
      const source = Object.assign(new RecordedSource(run), {
        isLive: true,
        followEvents: (onEvents: (events: readonly FlowEvent[], gap: boolean) => void, signal: AbortSignal) => {
          events.resolve(onEvents)
          return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        },
        resources: async () => [requests.push('resources'), pods].slice(1) as Resource[],
        pastEvents: async () => void requests.push('past events'),
      })
      const { app, starting } = starts(fragment, source)
      await settled()
      deepEqual(requests, isWaiting ? [] : ['resources'])
      const receive = await events.promise
      receive([], false)
      await starting
      await settled()
      deepEqual(requests.toSorted(), ['past events', 'resources'])
      equal(app.isLoadingPast, false, 'a cluster in which nothing has happened yet')
      app.stop()
    }
  })

  test('what is loaded from before ends with its connection, because the next one may be to another process', async () => {
    const connections: PromiseWithResolvers<void>[] = []
    const pages: { readonly signal: AbortSignal; readonly page: PromiseWithResolvers<undefined> }[] = []
    const source = Object.assign(new RecordedSource(run), {
      isLive: true,
      followEvents: (onEvents: (events: readonly FlowEvent[], gap: boolean) => void) => {
        const connection = Promise.withResolvers<void>()
        connections.push(connection)
        onEvents(run.events, false)
        return connection.promise
      },
      pastEvents: (_before: number | undefined, signal: AbortSignal) => {
        const page = Promise.withResolvers<undefined>()
        pages.push({ signal, page })
        return page.promise
      },
    })
    const { app } = await started('', source)
    connections[0]?.resolve()
    await settled()
    equal(pages[0]?.signal.aborted, true)
    pages[0]?.page.reject(new Error('aborted'))
    await settled()
    equal(app.notice, '', 'it is no error')
    deepEqual([connections.length, pages.length, pages[1]?.signal.aborted], [2, 2, false])
    app.stop()
  })

  test('a view has its link, and a link its view', async () => {
    const { app, fragments } = await started()
    app.selectObject(web, { view: 'objects' })
    await settled()
    equal(fragments.at(-1)?.fragment, '#objects?object=pods%2Fdefault%2Fweb')
    deepEqual(app.details.why, ['It waits.'])
    app.open('#map')
    await settled()
    equal(app.location.view, 'map')
    equal(app.pods.size, 1)
    app.expand(4)
    app.expand(5)
    app.expand(4)
    deepEqual(app.location.expanded, [5])
  })

  test('a list is followed while it is shown', async () => {
    const { app } = await started()
    equal(app.table.size, 0)
    app.go({ view: 'objects' })
    await settled()
    equal(app.table.size, 1)
  })

  test('a list whose watch has ended, or whose connection was lost, is read again', async () => {
    let reads = 0
    const source = Object.assign(new RecordedSource(run), { isLive: true })
    const watched = { ...pods, verbs: ['list', 'watch'] }
    Object.assign(source, {
      resources: () => Promise.resolve([watched]),
      followTable: (_resource: Resource, _revision: unknown, _onChange: unknown, signal: AbortSignal) => {
        reads++
        if (reads === 2) return Promise.reject(new TypeError('network error'))
        return reads < 3
          ? Promise.resolve()
          : new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      },
      followEvents: () => new Promise(() => undefined),
    })
    const { app } = await started('#objects', source)
    equal(reads, 3)
    app.stop()
  })

  test('a list that the server rejects is not read again', async () => {
    let reads = 0
    const source = Object.assign(new RecordedSource(run), {
      isLive: true,
      followTable: () => Promise.reject(new RequestError(403, `forbidden ${++reads}`, [])),
      followEvents: () => new Promise<void>(() => undefined),
    })
    const { app } = await started('#objects', source)
    deepEqual([reads, app.failures.get('list')], [1, 'forbidden 1'])
    app.stop()
  })

  for (const code of [401, 403])
    test(`without a session (${code}), the page says so and requests nothing any more`, async () => {
      let streams = 0
      const source = Object.assign(new RecordedSource(run), {
        isLive: true,
        followEvents: () => Promise.reject(new RequestError(code, `stream ${++streams}`, [])),
      })
      const { app, drawn } = await started('', source)
      deepEqual([app.signedOut, streams, app.resources], ['There is no session, or it has ended.', 1, []])
      ok(drawn() > 0)
    })

  test('what could not be loaded is loaded when the connection is back', async () => {
    let streams = 0
    let loads = 0
    const source = Object.assign(new RecordedSource(run), {
      isLive: true,
      resources: () => (++loads === 1 ? Promise.reject(new TypeError('network error')) : Promise.resolve([pods])),
      followEvents: () =>
        ++streams === 1 ? Promise.reject(new TypeError('network error')) : new Promise<void>(() => undefined),
    })
    const { app } = await started('', source)
    deepEqual([loads, app.resources.length], [2, 1])
    app.stop()
  })

  test('a diagram is computed again when its events have changed, for a part of the time', async () => {
    const { app } = await started(`#flows?object=pods/default/web`)
    const rests: number[] = []
    let nowMs = 0
    let slowMs = 5
    let wake = (): void => undefined
    const cache = new DiagramCache(
      Object.assign(Object.create(app) as App, {
        nowMs: () => (nowMs += slowMs),
        later: (ms: number, before: () => void) => Promise.resolve(void (rests.push(ms), (wake = before))),
      }),
    )
    const first = cache.get()
    equal(cache.get(), first)
    app.record.add([])
    equal(cache.get(), first)
    equal(cache.get(), first)
    // It took 5 ms, so it may change 100 ms after its start; the second draw does not wait again.
    deepEqual(rests, [90])
    wake()
    nowMs += 100
    slowMs = 50
    const second = cache.get()
    equal(second === first, false)
    app.record.add([])
    slowMs = 5
    rests.length = 0
    equal(cache.get(), second)
    // It took 50 ms, so the page is free for 450 ms.
    deepEqual(rests, [445])
  })

  test('another view begins at its start', async () => {
    const { app } = await started()
    app.hover([...app.record.values()][0])
    app.listScrollPx = 40
    Object.assign(app.diagramWindow, { topPx: 900, isAtEnd: false })
    app.go({ search: 'x' })
    equal(app.diagramWindow.topPx, 900)
    app.go({ view: 'objects' })
    const { topPx, isAtEnd } = app.diagramWindow
    deepEqual([topPx, app.listScrollPx, isAtEnd, app.hovered], [0, 0, true, undefined])
  })

  test('the selected message and the one under the pointer', async () => {
    const { app } = await started()
    const [call, write] = [...app.record.values()]
    app.selectEvent(call)
    app.hover(write)
    await settled()
    deepEqual([app.event?.id, app.hovered?.id], [call?.id, write?.id])
    equal(app.details.write(write as FlowEvent)?.length, 0)
    app.selectEvent(undefined)
    equal(app.event, undefined)
  })

  test('the diagram ends at the time of the selected revision', async () => {
    const { app } = await started()
    equal(diagramOf(app).messages.length, 2)
    deepEqual([...diagramOf(app).hidden], [['without effect', 1]])
    equal(shownMs(app), app.record.newestMs)
    app.go({ revision: 5 })
    equal(diagramOf(app).messages.length, 0)
    equal(shownMs(app), 0)
  })

  test('a failed action is shown', async () => {
    const { app } = await started()
    await app.attempt('logs', () => Promise.reject(new Error('it is not possible')))
    equal(app.failures.get('logs'), 'it is not possible')
    equal(app.failures.get('list'), undefined)
    await app.attempt('logs', async () => undefined)
    equal(app.failures.get('logs'), undefined)
  })

  test('other places are new entries of the history; a refinement replaces the present one', async () => {
    const { app, fragments } = await started('#objects')
    app.go({ search: 'x' })
    app.go({ namespace: 'default' })
    app.selectObject(web)
    app.go({ tab: 'History' })
    deepEqual(
      fragments.map(({ isNew }) => isNew),
      [false, true, true, false],
    )
    app.stop()
  })

  test('a logout ends the session and the page', async () => {
    let isOpen = true
    const actions = { logOut: async () => void (isOpen = false), clock: async () => undefined } as unknown as Actions
    const { app } = await started('', Object.assign(new RecordedSource(run), { actions }))
    await app.logOut()
    deepEqual([isOpen, app.signedOut], [false, 'You have logged out.'])
  })

  test('a namespace filters the list', async () => {
    const { app } = await started('#objects')
    equal(app.table.size, 1)
    app.go({ namespace: 'other' })
    await settled()
    equal(app.table.size, 0)
    app.stop()
  })
})

test('a view that takes long is drawn at a pace, and at once at another location', async () => {
  const waits: number[] = []
  let end: () => void = () => undefined
  let nowMs = 0
  const page = {
    location: locationOf('#map'),
    nowMs: () => nowMs,
    later: (ms: number, before: () => void) => {
      waits.push(ms)
      end = before
      return Promise.resolve()
    },
  }
  const pace = new DrawPace(page, 200)
  equal(pace.isDue(), true)
  nowMs = 50
  deepEqual([pace.isDue(), pace.isDue()], [false, false])
  deepEqual(waits, [150])
  page.location = locationOf('#map')
  equal(pace.isDue(), true)
  end()
  nowMs = 240
  equal(pace.isDue(), false)
  deepEqual(waits, [150, 10])
  nowMs = 250
  equal(pace.isDue(), true)
})

suite('edit', () => {
  const conflict = { field: '.spec.replicas', message: 'conflict with "kubectl"' }
  const cause = { reason: 'FieldManagerConflict', ...conflict }
  const edited = async (apply: Actions['apply']) => {
    const source = Object.assign(new RecordedSource(run), {
      actions: { apply, clock: () => Promise.resolve(undefined) } as unknown as Actions,
    })
    const { app } = await started('#objects?object=pods/default/web', source)
    app.details.setEdit('new text')
    return app.details
  }
  const labelled = { metadata: { ...object.metadata, labels: { a: 'b' } } }

  test('a dry run shows what would change; then it is applied', async () => {
    const sent: unknown[] = []
    const details = await edited((_resource, _object, text, options) => {
      sent.push([text, options])
      return Promise.resolve({ object: labelled, isCreated: false })
    })
    equal(await details.applyEdit(object, true, false), 'shown')
    deepEqual(
      details.edit?.diff?.filter(({ kind }) => kind === 'added').map(({ text }) => text),
      ['  labels:', '    a: b'],
    )
    equal(await details.applyEdit(object, false, true), 'applied')
    equal(details.edit, undefined)
    deepEqual(sent, [
      ['new text', { isDryRun: true, isForced: false }],
      ['new text', { isDryRun: false, isForced: true }],
    ])
  })

  test('a conflict keeps the text and names the owners; forcing shows that fields are taken over', async () => {
    const details = await edited((_resource, _object, _text, { isForced }) =>
      isForced
        ? Promise.resolve({ object: labelled, isCreated: false })
        : Promise.reject(new RequestError(409, 'Apply failed', [cause])),
    )
    equal(await details.applyEdit(object, true, false), 'conflict')
    deepEqual(details.edit?.conflicts, [conflict])
    deepEqual(details.edit?.errors, [{ ...conflict, document: 0 }])
    equal(details.edit?.text, 'new text')
    equal(await details.applyEdit(object, true, true), 'shown')
    deepEqual([details.edit?.takesOver, details.edit?.conflicts], [true, []])
  })

  test('another error is not a conflict', async () => {
    const details = await edited(() => Promise.reject(new RequestError(404, 'not found', [])))
    await rejects(details.applyEdit(object, true, false), /not found/)
    details.setEdit(undefined)
    await rejects(details.applyEdit(object, true, false), /No object/)
  })

  test('the fields that the server rejects are marked until the text changes', async () => {
    const causes = [
      { reason: 'FieldValueInvalid', field: 'spec.replicas', message: 'must be positive' },
      { reason: 'X' },
    ]
    const details = await edited(() => Promise.reject(new RequestError(422, 'invalid', causes)))
    await rejects(details.applyEdit(object, true, false), /invalid/)
    deepEqual(details.edit?.errors, [{ field: 'spec.replicas', message: 'must be positive', document: 0 }])
    deepEqual(details.edit?.conflicts, [])
    details.setEdit('other text')
    deepEqual(details.edit?.errors, [])
  })
})

suite('time', () => {
  const control = (actions?: Actions, sleep = async (): Promise<void> => undefined) => {
    const shown: (number | undefined)[] = []
    const source = Object.assign(new RecordedSource(run), { actions })
    const time = new TimeControl({
      source,
      sleep,
      changed: () => undefined,
      revision: () => undefined,
      show: (revision) => shown.push(revision),
    })
    return { time, shown }
  }

  test('a replay shows one revision after the other, then the present', async () => {
    const { time, shown } = control()
    await time.replay()
    deepEqual(shown, [3, 5, 7, undefined])
    equal(time.isReplaying, false)
    equal(time.atMs(6), 5)
  })

  test('a replay that is stopped stays where it is', async () => {
    const { time, shown } = control(undefined, async () => {
      time.stop()
      throw new Error('aborted')
    })
    await time.replay()
    deepEqual(shown, [3])
    equal(time.isReplaying, false)
  })

  test('a replay that cannot continue fails', async () => {
    const { time } = control(undefined, () => Promise.reject(new Error('no timer')))
    await rejects(time.replay(), /no timer/)
  })

  test('steps advance the time of the cluster, and the page shows the present', async () => {
    const steps: unknown[] = []
    const actions = {
      advanceClock: (step: unknown) => Promise.resolve({ nowMs: steps.push(step) }),
      clock: () => Promise.resolve({ nowMs: 42 }),
    } as unknown as Actions
    const { time, shown } = control(actions)
    await time.advance('event')
    await time.advance(1_000)
    deepEqual(steps, ['event', 1_000])
    deepEqual(shown, [undefined, undefined])
    equal(time.clock?.nowMs, 42)
  })

  test('an earlier answer that arrives after a step is dropped', async () => {
    const early = Promise.withResolvers<{ nowMs: number }>()
    const answers = [early.promise, Promise.resolve({ nowMs: 20 })]
    const actions = {
      advanceClock: () => Promise.resolve({ nowMs: 20 }),
      clock: () => answers.shift(),
    } as unknown as Actions
    const { time } = control(actions)
    const refreshed = time.refresh()
    await time.advance('event')
    early.resolve({ nowMs: 10 })
    await refreshed
    equal(time.clock?.nowMs, 20)
  })

  const range = { oldest: 1, newest: 9, marks: [2, 4, 9].map((revision) => ({ revision, atMs: undefined })) }
  for (const [revision, expected] of [
    [undefined, [2, 4, 9]],
    [9, [2, 4, 9]],
    [2, [4, 9]],
  ] as const)
    test(`a replay from ${revision ?? 'the present'} shows ${expected.join(', ')}`, () => {
      deepEqual(
        marksAfter(range, revision).map((mark) => mark.revision),
        expected,
      )
    })

  test('without retained revisions there is nothing to replay', () => {
    deepEqual(marksAfter(undefined, undefined), [])
  })
})

test('messages move when they arrive, once, and a bounded number of them', () => {
  const arrivals = new Arrivals()
  const [call, write] = recordedEvents() as [FlowEvent, FlowEvent]
  arrivals.add([call, write], ({ id }) => id === call.id, 5)
  arrivals.add([{ ...call, to: call.from }], () => false, 6)
  deepEqual(
    arrivals.since(4).map(({ event }) => event.id),
    [write.id],
  )
  equal(arrivals.since(5).length, 0)
  for (let batch = 0; batch < 50; batch++)
    arrivals.add(
      Array.from({ length: 500 }, () => write),
      () => false,
      9,
    )
  equal(arrivals.since(0).length, 300)
})

test('of many messages that arrive together some move, at their distance in time', () => {
  const arrivals = new Arrivals()
  const [write] = recordedEvents().slice(1) as [FlowEvent]
  const batch = Array.from({ length: 360 }, (_, at) => ({ ...write, id: (at + 1) as FlowEvent['id'], atMs: at }))
  arrivals.add(batch, () => false, 1_000)
  const moving = arrivals.since(0)
  deepEqual(
    moving.map(({ event }) => event.id),
    Array.from({ length: 12 }, (_, at) => 1 + at * 30),
  )
  deepEqual(
    moving.slice(-4).map(({ atMs }) => atMs),
    // The newest of the batch is recorded at 359, those that move at 240, 270, 300 and 330.
    [900, 911, 941, 971],
  )
})
