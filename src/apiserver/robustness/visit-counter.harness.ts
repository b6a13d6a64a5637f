// For the cost test: counts the items that functions of lists and objects visit. Unlike times, these numbers are the
// same in every run. It changes prototypes permanently, so it runs in a thread of its own.

let visits = 0

type AnyFunction = (this: unknown, ...given: unknown[]) => unknown
type Holder = Record<PropertyKey, unknown>

const withCallback = [
  'every',
  'filter',
  'find',
  'findIndex',
  'findLast',
  'findLastIndex',
  'flatMap',
  'forEach',
  'map',
  'reduce',
  'reduceRight',
  'some',
  'sort',
  'toSorted',
]
const overAll = ['concat', 'flat', 'join', 'reverse', 'slice', 'toReversed', 'toSpliced', 'with', 'shift', 'unshift']
const searching = ['includes', 'indexOf', 'lastIndexOf']

/** Replaces a function with one that counts and calls it. */
function replace(holder: object, name: PropertyKey, around: (original: AnyFunction) => AnyFunction): void {
  const target = holder as Holder
  target[name] = around(target[name] as AnyFunction)
}

export function startCounting(): void {
  for (const name of withCallback)
    replace(
      Array.prototype,
      name,
      (original) =>
        function (callback, ...rest) {
          if (typeof callback !== 'function') return original.call(this, callback, ...rest)
          const counted: AnyFunction = (...given) => {
            visits++
            return (callback as AnyFunction)(...given)
          }
          return original.call(this, counted, ...rest)
        },
    )
  for (const name of overAll)
    replace(
      Array.prototype,
      name,
      (original) =>
        function (...given) {
          visits += (this as readonly unknown[]).length
          return original.apply(this, given)
        },
    )
  for (const name of searching)
    replace(
      Array.prototype,
      name,
      (original) =>
        function (...given) {
          const found = original.apply(this, given)
          visits += typeof found === 'number' && found >= 0 ? found + 1 : (this as readonly unknown[]).length
          return found
        },
    )
  for (const iterator of [[].values(), new Map().entries(), new Set().values()])
    replace(
      Object.getPrototypeOf(iterator) as object,
      'next',
      (original) =>
        function () {
          visits++
          return original.call(this)
        },
    )
  for (const name of ['entries', 'keys', 'values'])
    replace(
      Object,
      name,
      (original) =>
        function (...given) {
          const found = original.apply(this, given) as readonly unknown[]
          visits += found.length
          return found
        },
    )
}

/** The number of visits during the work. */
export function visitsOf(work: () => void): number {
  const before = visits
  work()
  return visits - before
}
