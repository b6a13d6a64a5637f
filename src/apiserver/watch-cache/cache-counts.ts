// CacheCounts: what one watch cache has done since its start, as plain numbers.

export interface CacheCounts {
  /** Changes from the store. */
  received: number
  /** Events passed to watchers. */
  dispatched: number
  /** How often the cache was filled. */
  initializations: number
  /** Events of the state at the start of a watch. */
  initialEvents: number
  /** LIST requests, with the objects that they visited and those that they returned. */
  lists: number
  fetched: number
  returned: number
}

export const newCacheCounts = (): CacheCounts => ({
  received: 0,
  dispatched: 0,
  initializations: 0,
  initialEvents: 0,
  lists: 0,
  fetched: 0,
  returned: 0,
})
