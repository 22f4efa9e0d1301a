// The records of the public feeds.

import * as host from "portolan:capability/feeds";
import { request } from "./host_error.js";
import { toCounts, toDocument, toPage, toQuery } from "./query.js";

/** Returns a feed, such as `targets` or `signals`, which is queried like a collection. */
export function feed(name) {
  const getMany = (ids) => request(() => host.getMany(name, ids)).map((found) => (found ? toDocument(found) : null));
  return {
    get: (id) => getMany([id])[0],
    getMany,
    find: (query) => toPage(request(() => host.find(name, toQuery(query)))),
    countBy: (paths, query) => toCounts(request(() => host.countBy(name, toQuery(query), paths))),
  };
}

/** Returns an identifier of the current publication of the feeds. */
export const publication = () => request(() => host.publication());

/** Returns the changes of the feeds after a cursor; without one, the cursor of the current publication. */
export const changes = (since, limit = 100) => request(() => host.changes(since ?? undefined, limit));
