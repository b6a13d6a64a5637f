// OrderedMap: a persistent map with string keys in order. A change returns a new map that shares all but one path of
// nodes with the old one, so that old versions stay readable at no cost.
// It is a weight-balanced tree: each side of a node has at most three times as many entries as the other.

interface Node<V> {
  readonly key: string
  readonly value: V
  readonly size: number
  readonly left: Node<V> | undefined
  readonly right: Node<V> | undefined
}

export class OrderedMap<V> {
  readonly #root: Node<V> | undefined

  private constructor(root: Node<V> | undefined) {
    this.#root = root
  }

  static empty<V>(): OrderedMap<V> {
    return new OrderedMap<V>(undefined)
  }

  /** Builds the tree directly when the entries are in key order. */
  static from<V>(entries: readonly (readonly [key: string, value: V])[]): OrderedMap<V> {
    const isOrdered = entries.every(([key], index) => index === 0 || (entries[index - 1]?.[0] ?? '') < key)
    if (isOrdered) return new OrderedMap(balancedTree(entries, 0, entries.length))
    return entries.reduce((map, [key, value]) => map.set(key, value), OrderedMap.empty<V>())
  }

  get size(): number {
    return sizeOf(this.#root)
  }

  get(key: string): V | undefined {
    let node = this.#root
    while (node !== undefined && node.key !== key) node = key < node.key ? node.left : node.right
    return node?.value
  }

  set(key: string, value: V): OrderedMap<V> {
    return new OrderedMap(insert(this.#root, key, value))
  }

  delete(key: string): OrderedMap<V> {
    return this.get(key) === undefined ? this : new OrderedMap(remove(this.#root, key))
  }

  /** `set`, or `delete` when the value is undefined. */
  with(key: string, value: V | undefined): OrderedMap<V> {
    return value === undefined ? this.delete(key) : this.set(key, value)
  }

  /** Entries with `start` <= key < `end`, in order; an empty end means no limit. */
  range(start: string, end: string): IterableIterator<[string, V]> {
    return new Range(this.#root, start, end)
  }

  /** Number of keys in the range, without visiting them. */
  count(start: string, end: string): number {
    return (end === '' ? this.size : rank(this.#root, end)) - rank(this.#root, start)
  }

  values(): Generator<V> {
    return valuesOf(this.range('', ''))
  }
}

/** Not a generator, which the compiler does not inline: lists of all objects are iterated in half the time. */
class Range<V> implements IterableIterator<[string, V]> {
  /** The nodes whose keys are not less than the next one, and whose right sides have not been visited. */
  readonly #path: Node<V>[] = []
  readonly #end: string

  constructor(root: Node<V> | undefined, start: string, end: string) {
    this.#end = end
    for (let node = root; node !== undefined;)
      if (node.key < start) node = node.right
      else {
        this.#path.push(node)
        node = node.left
      }
  }

  [Symbol.iterator](): this {
    return this
  }

  next(): IteratorResult<[string, V], undefined> {
    const node = this.#path.pop()
    if (node === undefined || (this.#end !== '' && node.key >= this.#end)) {
      this.#path.length = 0
      return { done: true, value: undefined }
    }
    for (let next = node.right; next !== undefined; next = next.left) this.#path.push(next)
    return { done: false, value: [node.key, node.value] }
  }
}

/** The first key after all keys with the prefix. */
export function prefixEnd(prefix: string): string {
  const last = prefix.length - 1
  return last < 0 ? '' : prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1)
}

function* valuesOf<V>(entries: Iterable<[string, V]>): Generator<V> {
  for (const [, value] of entries) yield value
}

function balancedTree<V>(entries: readonly (readonly [string, V])[], from: number, to: number): Node<V> | undefined {
  const middle = (from + to) >>> 1
  const entry = entries[middle]
  if (from >= to || entry === undefined) return undefined
  return make(entry[0], entry[1], balancedTree(entries, from, middle), balancedTree(entries, middle + 1, to))
}

const sizeOf = (node: Node<unknown> | undefined): number => node?.size ?? 0

const make = <V>(key: string, value: V, left: Node<V> | undefined, right: Node<V> | undefined): Node<V> => ({
  key,
  value,
  size: sizeOf(left) + sizeOf(right) + 1,
  left,
  right,
})

function rank(root: Node<unknown> | undefined, key: string): number {
  let before = 0
  for (let node = root; node !== undefined;)
    if (key <= node.key) node = node.left
    else {
      before += sizeOf(node.left) + 1
      node = node.right
    }
  return before
}

function insert<V>(node: Node<V> | undefined, key: string, value: V): Node<V> {
  if (node === undefined) return make(key, value, undefined, undefined)
  if (key === node.key) return make(key, value, node.left, node.right)
  return key < node.key
    ? balanced(node.key, node.value, insert(node.left, key, value), node.right)
    : balanced(node.key, node.value, node.left, insert(node.right, key, value))
}

function remove<V>(node: Node<V> | undefined, key: string): Node<V> | undefined {
  if (node === undefined) return undefined
  if (key < node.key) return balanced(node.key, node.value, remove(node.left, key), node.right)
  if (key > node.key) return balanced(node.key, node.value, node.left, remove(node.right, key))
  if (node.left === undefined) return node.right
  if (node.right === undefined) return node.left
  const first = leftmost(node.right)
  return balanced(first.key, first.value, node.left, remove(node.right, first.key))
}

function leftmost<V>(root: Node<V>): Node<V> {
  let node = root
  while (node.left !== undefined) node = node.left
  return node
}

const weightRatioMax = 3
const singleRotationRatio = 2

function balanced<V>(key: string, value: V, left: Node<V> | undefined, right: Node<V> | undefined): Node<V> {
  const leftSize = sizeOf(left)
  const rightSize = sizeOf(right)
  if (leftSize + rightSize < 2) return make(key, value, left, right)
  if (right !== undefined && rightSize > weightRatioMax * leftSize) return rotateLeft(key, value, left, right)
  if (left !== undefined && leftSize > weightRatioMax * rightSize) return rotateRight(key, value, left, right)
  return make(key, value, left, right)
}

function rotateLeft<V>(key: string, value: V, left: Node<V> | undefined, right: Node<V>): Node<V> {
  const inner = right.left
  if (inner === undefined || sizeOf(inner) < singleRotationRatio * sizeOf(right.right))
    return make(right.key, right.value, make(key, value, left, inner), right.right)
  return make(
    inner.key,
    inner.value,
    make(key, value, left, inner.left),
    make(right.key, right.value, inner.right, right.right),
  )
}

function rotateRight<V>(key: string, value: V, left: Node<V>, right: Node<V> | undefined): Node<V> {
  const inner = left.right
  if (inner === undefined || sizeOf(inner) < singleRotationRatio * sizeOf(left.left))
    return make(left.key, left.value, left.left, make(key, value, inner, right))
  return make(
    inner.key,
    inner.value,
    make(left.key, left.value, left.left, inner.left),
    make(key, value, inner.right, right),
  )
}
