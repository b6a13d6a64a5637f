// Hostnames of listeners and routes. A wildcard `*.example.com` stands for names with one or more labels before
// `example.com`. An absent hostname stands for every name. Pure.

const isWildcard = (name: string): boolean => name.startsWith('*.')

/** Whether every name of `narrow` is a name of `wide`. */
function covers(wide: string, narrow: string): boolean {
  if (wide === narrow) return true
  if (!isWildcard(wide)) return false
  return narrow.endsWith(wide.slice(1)) && narrow.length > wide.length - 1
}

/** The names that both stand for; undefined if there are none. */
export function commonHostname(a: string | undefined, b: string | undefined): string | undefined {
  const first = a ?? ''
  const second = b ?? ''
  if (first === '' || second === '') return first || second
  if (covers(first, second)) return second
  return covers(second, first) ? first : undefined
}

/** The names of a route at a listener; an empty name stands for every name. An empty list: the route does not attach. */
export function commonHostnames(listener: string | undefined, route: readonly string[] | undefined): readonly string[] {
  const names = route === undefined || route.length === 0 ? [''] : route
  return [...new Set(names.flatMap((name) => commonHostname(listener, name) ?? []))]
}
