// Lists that are read page by page.

import { array, integer, nullable, object, optional, string } from "./schema.js";

/** Returns the fields of an input that read a list page by page. */
export const paging = ({ limit = 20, max = 50 } = {}) => ({
  limit: integer("At most this many.", { min: 1, max, default: limit }),
  cursor: optional(string("The next_cursor of the page before.", { min: 1, max: 2000 })),
});

/** Returns the schema of the output of such a list. */
export const pageOf = (item, description = "The items of this page.") =>
  object({ items: array(item, description), next_cursor: nullable(string("Where the next page begins; null on the last one.")) });

/** Returns a page of documents as `pageOf` declares it. `show` makes an item of a document. */
export const toItems = ({ documents, next }, show) => ({ items: documents.map(show), next_cursor: next });
